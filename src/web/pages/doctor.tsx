// What the doctor found: causes first, with evidence and what to do. The same JSON as `kerf doctor -o json`.
import { Copy, Empty, useDocument } from '../parts/parts.tsx';

interface Finding {
  id?: string;
  code?: string;
  severity?: string;
  title?: string;
  summary?: string;
  message?: string;
  cause?: string;
  evidence?: (string | { text?: string; source?: string })[];
  fix?: string | { text?: string; command?: string }[];
}

export function Doctor() {
  const { data, failed } = useDocument<{ findings?: Finding[] }>('findings', 30_000);
  if (data === undefined) {
    return (
      <Empty title={failed === undefined ? 'Examining …' : 'The doctor does not run in this dashboard'}>
        <p>It looks for everything that is known to go wrong. In a terminal:</p>
        <p>
          <code>kerf doctor</code> <Copy text="kerf doctor" label="copy" />
        </p>
      </Empty>
    );
  }
  const findings = data.findings ?? [];
  if (findings.length === 0) return <Empty title="Nothing found" />;
  return (
    <div class="page">
      <h1>{findings.length} findings</h1>
      <ul class="cards">
        {findings.map((finding, at) => (
          <li key={finding.id ?? at} class="card">
            <div class="head">
              <span class="mark going">{finding.severity}</span>
              <span class="name">{finding.title ?? finding.summary ?? finding.message}</span>
              <code>{finding.id ?? finding.code}</code>
            </div>
            {finding.cause !== undefined && <p>{finding.cause}</p>}
            {(finding.evidence ?? []).map((each) => {
              const text = typeof each === 'string' ? each : `${each.text ?? ''} ${each.source ?? ''}`;
              return (
                <p key={text} class="faint">
                  {text}
                </p>
              );
            })}
            {typeof finding.fix === 'string' && <p class="fix">{finding.fix}</p>}
          </li>
        ))}
      </ul>
    </div>
  );
}
