// What if: manifests written over what is there, a node or zone gone, other prices, more pods; before and after, nothing
// applied.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { RequestFailed, read, send } from '../../api.ts';
import type { WhatIfResult } from '../../documents.ts';
import { Copy } from '../../parts/parts.tsx';
import { route, setQuery } from '../../route.ts';
import { cluster, info, whatIf } from '../../store.ts';
import { changesOf, edited, formOf, type PoolForm, type PoolSpec } from './pool-edits.ts';
import { PoolFields } from './pool-form.tsx';
import { Result } from './result.tsx';
import { yamlOf } from './yaml.ts';

export function WhatIf() {
  const { query } = route.value;
  const text = useSignal('');
  const remove = useSignal(query.get('remove') ?? '');
  const zone = useSignal('');
  const factor = useSignal('1');
  const workload = useSignal('');
  const times = useSignal('2');
  const failed = useSignal<string | undefined>(undefined);
  const pool = query.get('pool') ?? '';
  /** Undefined where the manifest is written by hand. */
  const form = useSignal<{ name: string; spec: PoolSpec; before: PoolForm; now: PoolForm } | undefined>(undefined);
  const start = (): void => {
    form.value = undefined;
    text.value = '';
    if (pool === '') return;
    void read<{ name: string; spec: PoolSpec }>(`pools/${encodeURIComponent(pool)}`)
      .then(({ name, spec }) => {
        form.value = { name, spec, before: formOf(spec), now: formOf(spec) };
        text.value = manifestOf(name, spec);
      })
      .catch((error: unknown) => {
        failed.value = error instanceof Error ? error.message : String(error);
      });
  };
  useEffect(start, [pool]);
  const pools = [...new Set([...(cluster.shown?.dictionaries.pool ?? []), pool])].filter((each) => each !== '').sort();
  const zones = [...new Set([...(cluster.shown?.nodes.values() ?? [])].map((row) => row.zone))]
    .filter((each) => each !== '')
    .sort();
  const workloads = [...(cluster.shown?.dictionaries.workload ?? [])].sort();
  const run = async (day = false): Promise<void> => {
    failed.value = undefined;
    try {
      const started = await send<WhatIfResult>('what-if', {
        manifests: text.value,
        ...(day && { day }),
        ...(remove.value !== '' && { removeNodes: [remove.value] }),
        ...(zone.value !== '' && { zoneGone: zone.value }),
        ...(factor.value !== '1' && { spotPriceFactor: Number(factor.value) }),
        ...(workload.value !== '' && { scale: [{ workload: workload.value, factor: Number(times.value) }] }),
      });
      // A quick answer may have come over the stream before this one.
      if (whatIf.peek()?.id !== started.id) whatIf.value = started;
    } catch (error) {
      failed.value =
        error instanceof RequestFailed
          ? `${error.message}${error.problem.fix ? `: ${error.problem.fix}` : ''}`
          : String(error);
    }
  };
  const changes = form.value === undefined ? [] : changesOf(form.value.before, form.value.now);
  const result = whatIf.value;
  const running = result?.state === 'running' ? result.id : undefined;
  useEffect(() => {
    if (running === undefined) return undefined;
    // The stream tells the result; asking is for a page that was not connected at that moment.
    const timer = setInterval(() => {
      void read<WhatIfResult>(`what-if/${running}`).then((now) => {
        if (whatIf.peek()?.id === now.id) whatIf.value = now;
      });
    }, 1_500);
    return () => clearInterval(timer);
  }, [running]);
  return (
    <div class="page what-if">
      <section>
        <h2>change</h2>
        <div class="choices">
          <label>
            a zone is gone
            <select value={zone.value} onChange={(event) => (zone.value = event.currentTarget.value)}>
              <option value="">none</option>
              {zones.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
          <label>
            spot prices ×
            <input
              type="number"
              step="0.1"
              min="0.1"
              value={factor.value}
              onInput={(event) => (factor.value = event.currentTarget.value)}
            />
          </label>
          <label>
            more pods of
            <select value={workload.value} onChange={(event) => (workload.value = event.currentTarget.value)}>
              <option value="">none</option>
              {workloads.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
          <label>
            ×
            <input
              type="number"
              step="1"
              min="1"
              value={times.value}
              onInput={(event) => (times.value = event.currentTarget.value)}
            />
          </label>
          <label>
            this node is gone
            <input
              value={remove.value}
              placeholder="name of a node"
              onInput={(event) => (remove.value = event.currentTarget.value)}
            />
          </label>
        </div>
        <div class="choices">
          <label>
            edit NodePool
            <select value={pool} onChange={(event) => setQuery({ pool: event.currentTarget.value })}>
              <option value="">none</option>
              {pools.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
        </div>
        {form.value !== undefined && (
          <PoolFields
            form={form.value.now}
            onChange={(now) => {
              if (form.value === undefined) return;
              form.value = { ...form.value, now };
              text.value = manifestOf(form.value.name, edited(form.value.spec, now));
            }}
          />
        )}
        {changes.length > 0 && <p class="changes">{changes.join(' · ')}</p>}
        {pool !== '' && form.value === undefined && text.value !== '' && (
          <p class="faint">
            written by hand{' '}
            <button type="button" class="small" onClick={start}>
              back to the form
            </button>
          </p>
        )}
        <label class="manifests">
          manifests, written over what is there
          <textarea
            rows={form.value === undefined ? 14 : 8}
            spellcheck={false}
            placeholder={'apiVersion: karpenter.sh/v1\nkind: NodePool\n…'}
            value={text.value}
            onInput={(event) => {
              text.value = event.currentTarget.value;
              form.value = undefined;
            }}
          />
        </label>
      </section>
      <section aria-live="polite">
        <h2>before and after</h2>
        <p class="actions">
          <button type="button" class="primary" disabled={result?.state === 'running'} onClick={() => void run()}>
            {result?.state === 'running' ? 'planning …' : 'run'}
          </button>
          {result?.state === 'running' && (
            <button type="button" onClick={() => void send(`what-if/${result.id}`, {}, 'DELETE')}>
              cancel
            </button>
          )}
          {info.value?.recorded !== undefined && (
            <button
              type="button"
              disabled={result?.state === 'running' || text.value === ''}
              title="The recorded pods twice from the beginning: with the NodePools as they were, and with this one"
              onClick={() => void run(true)}
            >
              compare the recorded time
            </button>
          )}
          {text.value !== '' && (
            <Copy text={`kubectl apply -f - <<'EOF'\n${text.value}\nEOF`} label="copy kubectl apply" />
          )}
          {info.value?.capabilities.apply === true && text.value !== '' && <Apply text={text.value} />}
          <span class="faint">
            {info.value?.capabilities.apply === true ? 'run changes nothing' : 'nothing is changed anywhere'}
          </span>
        </p>
        {failed.value !== undefined && <p class="problem">{failed.value}</p>}
        {result === undefined || result.state === 'running' ? (
          <p class="faint">{result === undefined ? 'Change something, then run.' : 'Planning both …'}</p>
        ) : (
          <Result result={result} />
        )}
      </section>
    </div>
  );
}

const manifestOf = (name: string, spec: PoolSpec): string =>
  yamlOf({ apiVersion: 'karpenter.sh/v1', kind: 'NodePool', metadata: { name }, spec });

/** Only of a simulated cluster: its player writes the manifests. */
function Apply({ text }: { text: string }) {
  const said = useSignal('');
  const apply = async (): Promise<void> => {
    said.value = '';
    try {
      await send('player', { manifests: text });
      said.value = 'applied';
    } catch (error) {
      said.value = error instanceof Error ? error.message : String(error);
    }
  };
  return (
    <>
      <button type="button" onClick={() => void apply()}>
        apply
      </button>
      <span role="status" class="faint">
        {said.value}
      </span>
    </>
  );
}
