// How help looks: descriptions stand beside their flags where both fit the terminal, and below them where a flag is too long.
import type { Help, HelpConfiguration } from 'commander';
import { textWidth, wrapText } from './output/text-width.ts';

const indent = '  ';
/** Most columns of a flag that its description stands beside. */
const widestTerm = 32;

export const helpLayout: HelpConfiguration = {
  padWidth(command, helper: Help) {
    const terms = [
      ...helper.visibleArguments(command).map((argument) => helper.argumentTerm(argument)),
      ...helper.visibleOptions(command).map((option) => helper.optionTerm(option)),
      ...helper.visibleCommands(command).map((each) => helper.subcommandTerm(each)),
    ].map(textWidth);
    return Math.max(...terms.filter((width) => width <= widestTerm));
  },
  formatItem(term, termWidth, description, helper) {
    if (description === '') return `${indent}${term}`;
    const below = ' '.repeat(indent.length + termWidth + indent.length);
    const lines = wrapText(description, Math.max(20, (helper.helpWidth ?? 80) - below.length));
    const isBeside = textWidth(term) <= termWidth;
    const head = isBeside ? `${indent}${term.padEnd(termWidth)}${indent}${lines.shift()}` : `${indent}${term}`;
    return [head, ...lines.map((line) => `${below}${line}`)].join('\n');
  },
};
