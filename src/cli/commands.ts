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
    name: 'dashboard',
    summary: 'show a live cluster in the browser, from this machine',
    load: () => import('./dashboard/dashboard.ts'),
  },
  {
    name: 'top',
    summary: 'follow the nodes of a cluster in the terminal: cost, load, what keeps them',
    load: () => import('./top/top.ts'),
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
    name: 'doctor',
    summary: 'say what is wrong with a cluster, a bundle or a log, with the evidence and the fix',
    load: () => import('./doctor/doctor.ts'),
  },
  {
    name: 'snapshot',
    summary: 'save every object that planning depends on',
    load: () => import('./snapshot/snapshot.ts'),
  },
  {
    name: 'replay',
    summary: 'make recorded decisions again, and compare them with what was decided',
    load: () => import('./replay/replay.ts'),
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
  {
    name: 'preflight',
    summary: 'say whether a cluster can be switched from Karpenter, and afterwards what happened',
    load: () => import('./preflight/preflight.ts'),
  },
  {
    name: 'shadow',
    summary: 'say what Kerf would have done beside the autoscaler in charge',
    load: () => import('./shadow/shadow.ts'),
  },
  {
    name: 'completion',
    summary: 'print the completion of a shell: commands, flags and their values',
    load: () => import('./completion/completion.ts'),
  },
];
