// Rules about the images an EC2NodeClass selects.
import { asList, asMap, asText, type PlainMap } from '../../manifests/index.ts';
import type { Hit, Subject } from '../finding.ts';
import { isAt, isNodeClass, spec } from './node-class.ts';
import type { Rule } from './rule.ts';

const amiTerms = (subject: Subject): PlainMap[] => asList(spec(subject)['amiSelectorTerms']).map(asMap);

/** `latest`, `v` and a date, or numbers with dots; other tags of releases end in a word. */
const isRelease = (version: string): boolean => /^(latest|v?\d+(\.\d+)*)([-+]\w+)*$/.test(version);

/** The alias that gives the images an old amiFamily gave; undefined when no alias does. */
function aliasFor(amiFamily: unknown): string | undefined {
  const name = asText(amiFamily)?.toLowerCase() ?? '';
  if (name === 'al2' || name === 'al2023' || name === 'bottlerocket') return `${name}@latest`;
  return /^windows20(19|22|25)$/.test(name) ? `${name}@latest` : undefined;
}

export const imageRules: Rule[] = [
  {
    id: 'M04',
    severity: 'error',
    strict: true,
    wrong: 'EC2NodeClass without `amiSelectorTerms`',
    why: 'v1 requires at least one term; v1beta1 chose images by amiFamily.',
    instead:
      '`amiSelectorTerms: [{alias: al2023@v<release>}]`, with a release you pin, or `al2023@latest`; an alias must be the only term',
    failure: 'crd/ami-selector-required',
    explain(problem, subject) {
      if (!isNodeClass(subject) || !isAt(problem, 'spec', 'amiSelectorTerms')) return undefined;
      const isMissing = problem.kind === 'required' || asList(spec(subject)['amiSelectorTerms']).length === 0;
      if (!isMissing) return undefined;
      const alias = aliasFor(spec(subject)['amiFamily']) ?? 'al2023@latest';
      return {
        path: problem.path,
        message: 'amiSelectorTerms is required, with at least one term',
        fix: `amiSelectorTerms: [{alias: ${alias === 'al2@latest' ? 'al2023@latest' : alias}}]  (pin a release in production)`,
      };
    },
  },
  {
    id: 'M05',
    severity: 'error',
    strict: true,
    wrong: '`amiFamily: UBUNTU`, `WINDOWS`, `BOTTLEROCKET`',
    why: 'The names are case-sensitive, and the family decides the user-data format and the devices. Ubuntu was removed in 1.0.',
    instead:
      '`AL2023`, `Bottlerocket`, `Windows2019`, `Windows2022`, `Windows2025`, `AL2`; for Ubuntu `Custom` with explicit images and user data',
    explain(problem, subject) {
      if (!isNodeClass(subject) || problem.kind !== 'enum' || !isAt(problem, 'spec', 'amiFamily')) return undefined;
      const family = String(problem.value);
      const known = ['AL2', 'AL2023', 'Bottlerocket', 'Custom', 'Windows2019', 'Windows2022', 'Windows2025'];
      const near = known.find((name) => name.toLowerCase() === family.toLowerCase());
      const fix = /^ubuntu/i.test(family)
        ? 'amiFamily: Custom, with amiSelectorTerms that name the Ubuntu images and complete userData'
        : near === undefined
          ? `one of ${known.join(', ')}${/^windows$/i.test(family) ? ' (say which Windows)' : ''}`
          : `amiFamily: ${near}`;
      return { path: problem.path, message: `"${family}" is not an AMI family; the names are case-sensitive`, fix };
    },
  },
  {
    id: 'M06',
    severity: 'warning',
    strict: false,
    wrong: '`amiFamily: AL2` or `alias: al2@…`',
    why: 'EKS publishes no AL2 image from Kubernetes 1.33 on, and AL2 support ended on 26 November 2025; an al2 alias is reported as UnsupportedAlias.',
    instead: '`alias: al2023@…` or `alias: bottlerocket@…`',
    failure: 'ami/none-for-cluster-version',
    *check(subject, { kubernetesMinor }): Generator<Hit> {
      if (!isNodeClass(subject)) return;
      const index = amiTerms(subject).findIndex((term) => /^al2@/i.test(asText(term['alias']) ?? ''));
      const path = index >= 0 ? ['spec', 'amiSelectorTerms', index, 'alias'] : ['spec', 'amiFamily'];
      if (index < 0 && spec(subject)['amiFamily'] !== 'AL2') return;
      const isGone = kubernetesMinor !== undefined && kubernetesMinor >= 33;
      yield {
        path,
        message: `there are no Amazon Linux 2 images from Kubernetes 1.33 on, and AL2 support ended on 26 November 2025${isGone ? `; your cluster is 1.${kubernetesMinor}` : ''}`,
        fix: 'amiSelectorTerms: [{alias: al2023@latest}]  (or a bottlerocket alias; pin a release in production), and drop amiFamily',
        ...(isGone ? { severity: 'error' as const } : {}),
      };
    },
  },
  {
    id: 'M07',
    severity: 'error',
    strict: true,
    wrong: '`alias` beside `owner`, `name`, `tags`, `id` or other terms',
    why: "An alias resolves through EKS's public parameters; it cannot be narrowed by an owner and excludes every other term.",
    instead: 'the alias alone, or `name` with `owner`',
    failure: 'ami/unintended-image-selected',
    explain(problem, subject) {
      if (!isNodeClass(subject) || !problem.detail.includes("'alias' is mutually exclusive")) return undefined;
      return {
        path: problem.path,
        message:
          'an alias must be the only field of the only term: it never matches images of your account, so an owner adds nothing',
        fix: 'keep the alias alone, or use name with owner instead',
      };
    },
  },
  {
    id: 'M08',
    severity: 'warning',
    strict: false,
    wrong: 'an image name with a Kubernetes minor in it: `amazon-eks-node-1.32-*`',
    why: 'Nodes stay on that minor after the control plane moves on, and the name fixes the architecture.',
    instead: 'an `alias` (follows the cluster version) or `ssmParameter`',
    failure: 'ami/unintended-image-selected',
    *check(subject): Generator<Hit> {
      if (!isNodeClass(subject)) return;
      for (const [index, term] of amiTerms(subject).entries()) {
        const minor = /(?:^|[-_/])(1\.\d{2})(?=[-_/*]|$)/.exec(asText(term['name']) ?? '')?.[1];
        if (minor === undefined) continue;
        yield {
          path: ['spec', 'amiSelectorTerms', index, 'name'],
          message: `this name pins Kubernetes ${minor}: new nodes stay on it after the control plane is upgraded`,
          fix: 'an alias such as al2023@latest follows the cluster version',
        };
      }
    },
  },
  {
    id: 'L04',
    severity: 'warning',
    strict: false,
    wrong: '`alias: al2023@latest`',
    why: 'Every image release then replaces all nodes, on the day AWS chooses.',
    instead: 'a release you have tried: `alias: al2023@v<release>` (Windows images only have `latest`)',
    failure: 'crd/ami-selector-required',
    *check(subject): Generator<Hit> {
      if (!isNodeClass(subject)) return;
      for (const [index, term] of amiTerms(subject).entries()) {
        const alias = asText(term['alias']) ?? '';
        const [, named = '', version = ''] = /^(al2|al2023|bottlerocket|windows\d+)@(.+)$/i.exec(alias) ?? [];
        if (named !== '' && !isRelease(version)) {
          yield {
            path: ['spec', 'amiSelectorTerms', index, 'alias'],
            message: `${version} is not a release of ${named}`,
            fix: `alias: ${named}@latest, or a release such as ${/^bottle/i.test(named) ? '1.20.0' : 'v and its date'}`,
          };
        }
        const family = /^(al2|al2023|bottlerocket)@latest$/.exec(alias)?.[1];
        if (family === undefined) continue;
        yield {
          path: ['spec', 'amiSelectorTerms', index, 'alias'],
          message: 'with @latest every image release replaces all nodes, on the day it comes out',
          fix: `alias: ${family}@<a release you have tried>`,
        };
      }
    },
  },
  {
    id: 'L06',
    severity: 'warning',
    strict: false,
    wrong: 'an image name with `*` and no `owner`',
    why: 'Without an owner, images of your own account and of all of Amazon compete, and the newest wins.',
    instead: '`owner: "602401143452"` (EKS images in commercial regions) beside the name, or an alias',
    failure: 'ami/unintended-image-selected',
    *check(subject): Generator<Hit> {
      if (!isNodeClass(subject)) return;
      for (const [index, term] of amiTerms(subject).entries()) {
        if (!(asText(term['name']) ?? '').includes('*') || term['owner'] !== undefined) continue;
        yield {
          path: ['spec', 'amiSelectorTerms', index, 'name'],
          message: 'a pattern without owner matches images of your account and of all of Amazon; the newest wins',
          fix: 'owner: "602401143452" (EKS) or self beside the name, or an alias',
        };
      }
    },
  },
];
