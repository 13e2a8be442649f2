// Runs every check over manifests as they are read and gathers the findings: text, schema, metadata, rules, and at the
// end the rules that compare objects with each other.
import { type KindDefinition, kinds } from '../../api/index.ts';
import { type FieldPath, formatPath, type Manifest, type SyntaxProblem } from '../manifests/index.ts';
import type { Severity } from '../output/index.ts';
import { commentedFragments } from './commented.ts';
import { type Finding, type Hit, pathInManifest, type Subject } from './finding.ts';
import { identify, subjectOf } from './identify.ts';
import { metadataProblems } from './metadata.ts';
import { type Rule, type RuleContext, rules, type SchemaProblem, textRules } from './rules/index.ts';
import { runtimeProblems } from './runtime.ts';
import { definitionFor, isOurGroup, schemaProblems } from './schema.ts';
import { nothingSeen, remember } from './seen.ts';
import { suggestion } from './suggest.ts';

export interface CheckOptions extends RuleContext {
  /** Ids of rules that are left out. */
  ignore: ReadonlySet<string>;
}

export interface CheckResult {
  findings: Finding[];
  /** Objects whose kind has a schema or rules here, and objects of other kinds, which only general rules saw. */
  checked: number;
  unchecked: number;
}

interface RuleFacts {
  id: string;
  severity: Severity;
  strict: boolean;
  failure?: string;
}

export class Check {
  private readonly options: CheckOptions;
  private readonly findings: Finding[] = [];
  private readonly seen = nothingSeen();
  private readonly rules: readonly Rule[];
  private checked = 0;
  private unchecked = 0;

  constructor(options: CheckOptions) {
    this.options = options;
    this.rules = rules.filter((rule) => !options.ignore.has(rule.id));
  }

  manifest(manifest: Manifest): void {
    for (const problem of manifest.problems) this.syntax(manifest, problem);
    if (manifest.value === undefined || manifest.value === null) return;
    const identified = identify(manifest);
    if (identified.kind === 'object') this.subject(identified.subject);
    else if (identified.kind === 'incomplete') this.incomplete(manifest, identified.missing);
    else this.stray(manifest);
    for (const fragment of commentedFragments(manifest)) this.subject(fragment);
  }

  /** The words of a document around its code; `covered` tells whether a line belongs to a manifest. */
  prose(file: string, text: string, covered: (line: number) => boolean): void {
    for (const [index, content] of text.split('\n').entries()) {
      const line = index + 1;
      const isCode = covered(line);
      const shown = isCode ? (/#.*/.exec(content)?.[0] ?? '') : content;
      for (const rule of textRules) {
        if (this.options.ignore.has(rule.id) || (rule.where === 'comment') !== isCode) continue;
        const match = rule.pattern.exec(shown);
        if (match === null) continue;
        const column = content.indexOf(shown) + match.index + 1;
        const { id, message, fix } = rule;
        this.findings.push({ rule: id, severity: 'info', strict: false, file, line, column, field: '', message, fix });
      }
    }
  }

  /** Whether the names of EC2's instance types would help to judge what was read. */
  get asksForMachines(): boolean {
    return this.seen.namedTypes.length > 0 && !this.options.ignore.has('L07');
  }

  knowMachines(names: Iterable<string>): void {
    this.seen.machines = new Set(names);
  }

  finish(): CheckResult {
    for (const rule of this.rules) {
      for (const { subject, hit } of rule.conclude?.(this.seen) ?? []) this.report(rule, subject, hit);
    }
    return { findings: this.findings, checked: this.checked, unchecked: this.unchecked };
  }

  private subject(subject: Subject): void {
    remember(this.seen, subject);
    for (const rule of this.rules) {
      for (const hit of rule.check?.(subject, this.options) ?? []) this.report(rule, subject, hit);
    }
    const definition = definitionFor(subject);
    if (definition !== undefined) {
      this.checked += 1;
      this.schema(definition, subject);
      return;
    }
    this.unchecked += 1;
    if (isOurGroup(subject.group) && !this.isExplained(subject)) this.unknownKind(subject);
  }

  /** Removed kinds are reported by their rule (M01) already. */
  private isExplained(subject: Subject): boolean {
    return (
      /^v1(alpha|beta)\d+$/.test(subject.version) &&
      ['Provisioner', 'Machine', 'AWSNodeTemplate'].includes(subject.kind)
    );
  }

  private schema(definition: KindDefinition, subject: Subject): void {
    if (subject.fragment === undefined) {
      for (const hit of metadataProblems(definition, subject))
        this.report({ id: 'object/metadata', severity: 'error', strict: hit.severity === undefined }, subject, hit);
    }
    const problems = schemaProblems(definition, subject);
    for (const problem of problems) {
      // A fragment is not expected to be complete.
      if (subject.fragment !== undefined && problem.kind === 'required') continue;
      this.problem(definition, subject, problem);
    }
    if (problems.length > 0) return;
    for (const hit of runtimeProblems(subject))
      this.report({ id: 'runtime', severity: 'error', strict: false }, subject, hit);
  }

  private problem(definition: KindDefinition, subject: Subject, problem: SchemaProblem): void {
    for (const rule of rules) {
      const hit = rule.explain?.(problem, subject);
      if (hit === undefined) continue;
      if (!this.options.ignore.has(rule.id)) this.report(rule, subject, hit);
      return;
    }
    const fix = suggestion(definition, problem);
    const hit = { path: problem.path, message: describe(problem), ...(fix === undefined ? {} : { fix }) };
    this.report({ id: `schema/${problem.kind}`, severity: 'error', strict: true }, subject, hit);
  }

  private unknownKind(subject: Subject): void {
    this.report({ id: 'object/unknown-kind', severity: 'error', strict: true }, subject, {
      path: ['kind'],
      message: `there is no kind ${subject.kind} in ${subject.apiVersion}`,
      fix: 'NodePool or NodeClaim (karpenter.sh/v1), NodeOverlay (karpenter.sh/v1alpha1), EC2NodeClass (karpenter.k8s.aws/v1), KWOKNodeClass (karpenter.kwok.sh/v1alpha1)',
    });
  }

  private incomplete(manifest: Manifest, missing: 'apiVersion' | 'kind' | 'both'): void {
    const names = missing === 'both' ? 'apiVersion and kind' : missing;
    this.place({ id: 'object/incomplete', severity: 'error', strict: true }, manifest, [], {
      path: [],
      message: `the object has no ${names}, so nothing can tell what it is`,
      fix:
        missing === 'kind'
          ? 'kind: NodePool (or what it is)'
          : 'apiVersion: karpenter.sh/v1 and kind: NodePool (or what it is)',
    });
  }

  /** Neither object nor fragment. In a document that is normal; in a file it is worth a word. */
  private stray(manifest: Manifest): void {
    const subject = subjectOf(manifest, '', '', manifest.value as Record<string, unknown>);
    const strategies = this.rules.find((rule) => rule.id === 'M22');
    const hits = typeof manifest.value === 'object' ? [...(strategies?.check?.(subject, this.options) ?? [])] : [];
    if (strategies !== undefined) for (const hit of hits) this.report(strategies, subject, hit);
    if (hits.length > 0 || manifest.fenceLine !== undefined) return;
    this.place({ id: 'object/none', severity: 'info', strict: false }, manifest, [], {
      path: [],
      message: 'this is not a Kubernetes object (no apiVersion and kind), so it was not checked',
    });
  }

  private syntax(manifest: Manifest, problem: SyntaxProblem): void {
    const isMissingColon = problem.message.endsWith('has no colon');
    const id = isMissingColon ? 'M29' : problem.code === 'syntax' ? 'syntax' : `syntax/${problem.code}`;
    if (this.options.ignore.has(id)) return;
    const object = guessedObject(manifest);
    // Documents label all sorts of text as YAML; only what was meant as a manifest must parse.
    const isManifest = manifest.fenceLine === undefined || (object !== undefined && isKnownKind(object.kind));
    this.findings.push({
      rule: id,
      severity: isManifest ? 'error' : 'info',
      strict: isManifest,
      file: manifest.file,
      line: problem.line,
      column: problem.column,
      ...(manifest.fenceLine === undefined ? {} : { fence: manifest.fenceLine }),
      ...(object === undefined ? {} : { object }),
      field: formatPath(problem.field),
      message: problem.message,
      ...(problem.fix === undefined ? {} : { fix: problem.fix }),
    });
  }

  private report(rule: RuleFacts, subject: Subject, hit: Hit): void {
    const { apiVersion, kind, name } = subject;
    const object = kind === '' ? undefined : { apiVersion, kind, name };
    this.place(rule, subject.manifest, pathInManifest(subject, hit.path), hit, object);
  }

  private place(rule: RuleFacts, manifest: Manifest, path: FieldPath, hit: Hit, object?: Finding['object']): void {
    this.findings.push({
      rule: rule.id,
      severity: hit.severity ?? rule.severity,
      strict: rule.strict,
      file: manifest.file,
      ...manifest.locate(path),
      ...(manifest.fenceLine === undefined ? {} : { fence: manifest.fenceLine }),
      ...(object === undefined ? {} : { object }),
      field: formatPath(hit.path),
      message: hit.message,
      ...(hit.fix === undefined ? {} : { fix: hit.fix }),
      ...(rule.failure === undefined ? {} : { failure: rule.failure }),
    });
  }
}

/** Kind and name of something that does not parse, read off its lines. */
function guessedObject({ text }: Manifest): Finding['object'] {
  const word = (pattern: RegExp): string => pattern.exec(text)?.[1] ?? '';
  const kind = word(/^kind:\s*(\w+)/m);
  if (kind === '') return undefined;
  return { apiVersion: word(/^apiVersion:\s*(\S+)/m), kind, name: word(/^ {1,8}name:\s*["']?([\w.-]+)/m) };
}

function isKnownKind(kind: string): boolean {
  return kinds.some((definition) => definition.kind === kind) || kind === 'Provisioner' || kind === 'AWSNodeTemplate';
}

function describe(problem: SchemaProblem): string {
  const field = String(problem.path.at(-1) ?? '');
  if (problem.kind === 'unknown') return `there is no field ${field} here`;
  if (problem.kind === 'required') return `${field} is required`;
  return problem.detail;
}
