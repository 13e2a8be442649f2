// The form of the five usual edits of a NodePool. What it says is written as a manifest below it, which is what is planned with.
import type { ComponentChildren } from 'preact';
import { operators, type PoolForm } from './pool-edits.ts';

type Change = (form: PoolForm) => void;

export function PoolFields({ form, onChange }: { form: PoolForm; onChange: Change }) {
  const field = (name: 'cpu' | 'memory' | 'weight' | 'consolidateAfter', label: string, placeholder: string) => (
    <label>
      {label}
      <input
        value={form[name]}
        placeholder={placeholder}
        size={8}
        onInput={(event) => onChange({ ...form, [name]: event.currentTarget.value })}
      />
    </label>
  );
  return (
    <div class="pool-form">
      <div class="choices">
        {field('cpu', 'limit of cpu', 'none')}
        {field('memory', 'limit of memory', 'none')}
        {field('consolidateAfter', 'consolidateAfter', 'none')}
        {field('weight', 'weight', 'none')}
      </div>
      <Budgets form={form} onChange={onChange} />
      <Requirements form={form} onChange={onChange} />
    </div>
  );
}

/** A list of rows of fields, to which rows can be added and from which they can be taken. */
function Rows<T>({
  title,
  name,
  rows,
  empty,
  onChange,
  children,
}: {
  title: string;
  name: string;
  rows: readonly T[];
  empty: T;
  onChange: (rows: T[]) => void;
  children: (row: T, set: (changes: Partial<T>) => void, at: number) => ComponentChildren;
}) {
  return (
    <fieldset>
      <legend>{title}</legend>
      {rows.map((row, at) => (
        <div class="form-row" key={at}>
          {children(row, (changes) => onChange(rows.with(at, { ...row, ...changes })), at)}
          <button
            type="button"
            class="small"
            aria-label={`Remove ${name} ${at + 1}`}
            onClick={() => onChange(rows.filter((_, other) => other !== at))}
          >
            remove
          </button>
        </div>
      ))}
      <button type="button" class="small" onClick={() => onChange([...rows, empty])}>
        add a {name}
      </button>
    </fieldset>
  );
}

function Budgets({ form, onChange }: { form: PoolForm; onChange: Change }) {
  return (
    <Rows
      name="budget"
      title="budgets: nodes, reasons, from (cron), for"
      rows={form.budgets}
      empty={{ nodes: '10%', reasons: '', schedule: '', duration: '' }}
      onChange={(budgets) => onChange({ ...form, budgets })}
    >
      {(row, set, at) => (
        <>
          <Text label={`nodes of budget ${at + 1}`} value={row.nodes} hint="10%" onText={(nodes) => set({ nodes })} />
          <Text
            label={`reasons of budget ${at + 1}`}
            value={row.reasons}
            hint="any reason"
            wide
            onText={(reasons) => set({ reasons })}
          />
          <Text
            label={`schedule of budget ${at + 1}`}
            value={row.schedule}
            hint="always"
            onText={(schedule) => set({ schedule })}
          />
          <Text
            label={`duration of budget ${at + 1}`}
            value={row.duration}
            hint="always"
            onText={(duration) => set({ duration })}
          />
        </>
      )}
    </Rows>
  );
}

function Requirements({ form, onChange }: { form: PoolForm; onChange: Change }) {
  return (
    <Rows
      name="requirement"
      title="requirements"
      rows={form.requirements}
      empty={{ key: '', operator: 'In', values: '' }}
      onChange={(requirements) => onChange({ ...form, requirements })}
    >
      {(row, set, at) => (
        <>
          <Text
            label={`key of requirement ${at + 1}`}
            value={row.key}
            hint="karpenter.sh/capacity-type"
            wide
            onText={(key) => set({ key })}
          />
          <select
            aria-label={`operator of requirement ${at + 1}`}
            value={row.operator}
            onChange={(event) => set({ operator: event.currentTarget.value })}
          >
            {operators.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
          <Text
            label={`values of requirement ${at + 1}`}
            value={row.values}
            hint="spot, on-demand"
            wide
            onText={(values) => set({ values })}
          />
        </>
      )}
    </Rows>
  );
}

function Text({
  label,
  value,
  hint,
  wide = false,
  onText,
}: {
  label: string;
  value: string;
  hint: string;
  wide?: boolean;
  onText: (text: string) => void;
}) {
  return (
    <input
      aria-label={label}
      title={label}
      class={wide ? 'wide' : ''}
      value={value}
      placeholder={hint}
      onInput={(event) => onText(event.currentTarget.value)}
    />
  );
}
