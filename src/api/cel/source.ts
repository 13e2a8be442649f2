// Looks at the words of a CEL expression without parsing it: string literals and comments are stepped over.

const literal =
  /\b[bB]?[rR][bB]?("""[^]*?"""|'''[^]*?'''|"[^"\n]*"|'[^'\n]*')|"""(?:\\[^]|[^\\])*?"""|'''(?:\\[^]|[^\\])*?'''|"(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*'|\/\/[^\n]*/
    .source;

const word = new RegExp(`(${literal})|((?:\\.\\s*)?\\??[A-Za-z_][A-Za-z0-9_]*)`, 'g');

/** True if the expression uses the variable. */
export function mentions(expression: string, variable: string): boolean {
  for (const match of expression.matchAll(word)) if (match[0] === variable) return true;
  return false;
}

/** Calls `replacement` wherever the expression calls the global function `name`. */
export function renameFunction(expression: string, name: string, replacement: string): string {
  return expression.replace(word, (part, _literal, _raw, _word, offset: number) => {
    const isCall = part === name && /^\s*\(/.test(expression.slice(offset + part.length));
    return isCall ? replacement : part;
  });
}
