// The page docs/reference/errors.md: every error code, from the list in the code.
import { errorCodes } from '../src/base/index.ts';
import { aligned } from './markdown-table.ts';

const introduction = `# Error codes

Every error that Kerf throws has one of these codes. A command prints it after the message, in parentheses; the message
says what was tried, on what, and what to do.

Answers of a Kubernetes API have \`Kube\` and the API's own reason as code (\`KubeConflict\`, \`KubeForbidden\`,
\`KubeNotFound\`); \`KubeTransport\` means that no answer came.

<!-- Written by \`npm run generate\` from src/base/error-codes.ts. -->
`;

export function errorsPage(): string {
  const rows = Object.entries(errorCodes).map(([code, meaning]) => [`\`${code}\``, meaning]);
  return `${introduction}\n${aligned([['code', 'meaning'], ...rows])}`;
}
