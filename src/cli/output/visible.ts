// Names and labels of objects come from anywhere, and a terminal does what control bytes say: it moves the cursor, renames
// the window, answers questions as if typed. So text is written with its control bytes made visible; only line ends, tabs
// and colours pass.

// Colours; a carriage return before a line end; anything else that controls.
const controls =
  /\u001b\[[0-9;]*m|\r(?=\n)|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
const anyControl = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

/** The text with every other control byte as `\\x1b`. */
export function visible(text: string): string {
  if (!anyControl.test(text)) return text;
  return text.replaceAll(controls, (found, at: number) => {
    const isLineEnd = found === '\r' && text[at + 1] === '\n';
    return found.length > 1 || isLineEnd ? found : escaped(found);
  });
}

/** The same for what has to stay on its line. */
export function oneLine(text: string): string {
  return visible(text).replaceAll('\r', '').replaceAll('\n', '\\n').replaceAll('\t', ' ');
}

function escaped(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}
