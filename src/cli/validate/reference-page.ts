// docs/reference/validate.md, written from the table of rules, so that the page and the checks cannot disagree.
import { type Rule, rules } from './rules/index.ts';

export function validateReferencePage(): string {
  return `${head}\n${rules.map(section).join('\n')}\n${tail}`;
}

const section = ({ id, severity, strict, wrong, why, instead }: Rule): string => `### ${id}

${severity}${strict ? ', refused by the API server' : ''}

- **Written:** ${wrong}
- **Why it is wrong:** ${why}
- **Write instead:** ${instead}
`;

const head = `<!-- Written by npm run generate from src/cli/validate/rules; changes here are lost. -->

# kerf validate

\`kerf validate -f FILE…\` reads manifests and reports every problem with its line, the field, what is wrong and what to
write instead. \`-f\` takes files, folders (searched for YAML, JSON, Markdown and text) and \`-\` for standard input; YAML
streams, JSON, Lists and code blocks in documents are understood.

- \`-f, --filename FILE…\`: what to read; files may also be given without the flag
- \`-o, --output table|json\`: for people or for programs
- \`--strict\`: warnings fail too
- \`--ignore RULE…\`: leave rules out, as in \`--ignore M17,M18\`
- \`--kubernetes-version 1.33\`: the cluster's version, for rules that depend on it (M06)

Exit code 0: no errors. 1: errors found, or warnings with \`--strict\`. 2: some input could not be read, or there was
nothing to check.

## What is checked

- **Text**: YAML and JSON that does not parse (\`syntax\`), keys written twice (\`syntax/duplicate-key\`), aliases without
  anchor or in bomb size (\`syntax/alias\`). One broken document does not hide the others.
- **Schema**: NodePool, NodeClaim, NodeOverlay, CapacityBuffer, EC2NodeClass and KWOKNodeClass against the same schemas and
  rules the API server has (\`schema/required\`, \`schema/unknown\`, \`schema/enum\`, \`schema/pattern\`, \`schema/type\`,
  \`schema/range\`, \`schema/rule\`), with names and labels (\`object/metadata\`). Old versions are held against v1.
- **What the controller refuses**: labels of reserved domains, values no label can have, taints given twice. The API server
  accepts them; a pool with them never becomes ready (\`runtime\`).
- **Rules**: the list below. Where a rule explains what the schema found, its id stands in place of the schema's.

Severity \`error\` fails, \`warning\` fails with \`--strict\`, \`info\` never does: it marks what a document says in prose or
comments and what was not checked.

## Rules
`;

const tail = `## JSON

\`-o json\` prints one object: \`summary\` (files, objects, unchecked, errors, warnings, notes), \`unreadable\` (file,
message) and \`findings\`, each with \`rule\`, \`severity\`, \`strict\` (the API server of a current cluster refuses it),
\`file\`, \`line\`, \`column\`, \`fence\` (line of the code block, in documents), \`object\` (apiVersion, kind, name),
\`field\`, \`message\`, \`fix\` and \`failure\` (what the mistake leads to, by its id in the failure catalogue).
`;
