// What the doctor found: causes first, with evidence and what to do. The same JSON as `kerf doctor -o json`.
import { counted } from '../format.ts';
import { Copy, Empty } from '../parts/parts.tsx';
import { examined, type Finding, realFindings } from './examined.ts';
import { shownEvidence } from './shown-evidence.ts';

/** As many as a person reads. */
const mostEvidence = 5;

export function Doctor() {
  const { report, failed } = examined.value;
  if (report === undefined) {
    return (
      <Empty title={failed ? 'The doctor does not run in this dashboard' : 'Examining …'}>
        <p>It looks for everything that is known to go wrong. In a terminal:</p>
        <p>
          <code>kerf doctor</code> <Copy text="kerf doctor" label="copy" />
        </p>
      </Empty>
    );
  }
  const findings = realFindings(report);
  const count = (outcome: string): number => report.checks.filter((check) => check.outcome === outcome).length;
  const notMade = Map.groupBy(
    report.checks.filter(({ outcome }) => outcome === 'not made'),
    ({ needs = 'more evidence' }) => needs,
  );
  const summary = `${counted(report.checks.length, 'check')}: ${count('clear')} clear, ${count('not made')} not made`;
  return (
    <div class="page">
      <h1>{findings.length === 0 ? 'Nothing found' : counted(findings.length, 'finding')}</h1>
      <p class="faint">{summary}</p>
      <ul class="cards">
        {findings.map((finding) => (
          <FindingCard key={`${finding.id} ${finding.summary}`} finding={finding} />
        ))}
      </ul>
      {notMade.size > 0 && (
        <details>
          <summary>checks that were not made, and what they need</summary>
          <table class="plain">
            <tbody>
              {[...notMade].map(([needs, checks]) => (
                <tr key={needs}>
                  <td>{needs}</td>
                  <td class="faint">{checks.map(({ id }) => id).join(', ')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
    </div>
  );
}

function FindingCard({ finding }: { finding: Finding }) {
  const { id, severity, confidence, summary, objects, evidence, fix, consequences = [] } = finding;
  const names = objects.map((each) => `${each.kind} ${each.namespace ? `${each.namespace}/` : ''}${each.name}`);
  const shown = shownEvidence(evidence);
  const isSerious = severity === 'critical' || severity === 'high';
  return (
    <li class="card">
      <div class="head">
        <span class={`mark ${isSerious ? 'going' : 'held'}`}>{severity}</span>
        <span class="name">{summary}</span>
        <code>{id}</code>
        {confidence !== 'certain' && <span class="faint">{confidence}</span>}
      </div>
      {names.length > 0 && (
        <p class="faint">
          {names.slice(0, 4).join(', ')}
          {names.length > 4 && ` and ${names.length - 4} more`}
        </p>
      )}
      {shown.slice(0, mostEvidence).map(({ source, text, count }) => (
        <p key={`${source} ${text}`} class="evidence">
          {source !== '' && <code>{source}</code>} {text}
          {count > 1 && <span class="faint"> ×{count}</span>}
        </p>
      ))}
      {shown.length > mostEvidence && <p class="faint">and {shown.length - mostEvidence} more</p>}
      {consequences.map((each) => (
        <p key={each.id} class="faint">
          explains {each.id}: {each.summary}
        </p>
      ))}
      {fix.length > 0 && (
        <div class="fix">
          <strong>fix</strong> <Copy text={fix.join('\n')} label="copy" />
          <pre>{fix.join('\n')}</pre>
        </div>
      )}
    </li>
  );
}
