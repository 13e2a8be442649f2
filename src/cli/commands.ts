// The commands of `kerf`, in the order in which `kerf --help` lists them.
import type { CommandDefinition } from './command.ts';

export const commands: CommandDefinition[] = [
  {
    name: 'up',
    summary: 'start a simulated cluster with the autoscaler at work, in one process',
    load: () => import('./up/up.ts'),
  },
  {
    name: 'controller',
    summary: 'run the autoscaler for a cluster',
    load: () => import('./controller/controller.ts'),
  },
  {
    name: 'plan',
    summary: 'show what would be launched for pods, where they would run, and what it would cost',
    load: () => import('./plan/plan.ts'),
  },
  {
    name: 'explain',
    summary: 'say why a pod waits, or why a node stays, and what would happen to it',
    load: () => import('./explain/explain.ts'),
  },
  {
    name: 'snapshot',
    summary: 'write down what a decision looks at in a live cluster',
    load: () => import('./snapshot/snapshot.ts'),
  },
  {
    name: 'validate',
    summary: 'say everything that is wrong with manifests, and what to write instead',
    load: () => import('./validate/validate.ts'),
  },
  {
    name: 'convert',
    summary: 'print manifests of any age as v1, keeping their comments',
    load: () => import('./convert/convert.ts'),
  },
  {
    name: 'crds',
    summary: 'print the CustomResourceDefinitions that a cluster needs',
    load: () => import('./crds/crds.ts'),
  },
  {
    name: 'iam',
    summary: 'print the policies, roles and queue that an AWS account needs',
    load: () => import('./iam/iam.ts'),
  },
];
