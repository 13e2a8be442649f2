// Command lines shown in documents, with what they print. A fenced block of language `console` holds one command after
// `$ ` (by `npx` where a reader has installed nothing) and below it the output, exactly.

export interface ConsoleBlock {
  /** The command without its first word, split at blanks. */
  args: string[];
  command: string;
  output: string;
}

const block = /^```console\n\$ ((?:npx )?kerf) ([^\n]*)\n([\s\S]*?)^```$/gm;

export function consoleBlocks(markdown: string): ConsoleBlock[] {
  return [...markdown.matchAll(block)].map(([, , command = '', output = '']) => ({
    args: command.split(' '),
    command,
    output,
  }));
}

/** The document with the outputs of its blocks replaced, by command. */
export function withOutputs(markdown: string, outputs: ReadonlyMap<string, string>): string {
  return markdown.replaceAll(block, (whole, program: string, command: string) => {
    const output = outputs.get(command);
    return output === undefined ? whole : `\`\`\`console\n$ ${program} ${command}\n${output}\`\`\``;
  });
}
