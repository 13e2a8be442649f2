// Looks at a live cluster and, where credentials allow, at its AWS account, and hands on what it saw as files of a bundle:
// the same reader diagnoses both, and --collect only has to write them down.
import type { AccountAnswer } from '../../../aws/index.ts';
import type { Evidence } from '../../../failures/index.ts';
import type { KubeClient } from '../../../kube/index.ts';
import type { Kube } from '../../../ports/index.ts';
import { accountClients } from '../../account-clients.ts';
import { version } from '../../version.ts';
import { clusterFiles, type LiveFile } from './cluster.ts';
import { controllerLogs } from './controller-logs.ts';
import { questionsOf } from './questions.ts';

export interface LookOptions {
  env: Record<string, string | undefined>;
  context?: string;
  kubeconfig?: string;
  clusterName?: string;
  region?: string;
}

export interface Look {
  kube: Pick<Kube, 'list' | 'get'> & Pick<KubeClient, 'podLog'>;
  close(): Promise<void>;
  nowMs: number;
}

export async function openCluster({ env, context, kubeconfig }: LookOptions): Promise<Look> {
  const [{ findAccess, KubeClient }, { RealClock }] = await Promise.all([
    import('../../../kube/index.ts'),
    import('../../../runtime/index.ts'),
  ]);
  const clock = new RealClock();
  const access = await findAccess({
    clock,
    env,
    ...(context === undefined ? {} : { context }),
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
  });
  const kube = new KubeClient({ access, clock, userAgent: `kerf/${version}`, rateLimit: { qps: 50, burst: 100 } });
  return { kube, close: () => kube.close(), nowMs: clock.now() };
}

/** First the objects, then what the account says about the names in them. */
export async function* lookAtCluster(
  look: Look,
  options: LookOptions,
  soFar: () => Evidence,
): AsyncGenerator<LiveFile> {
  const { clusterName, region } = options;
  const facts = {
    collectedAt: new Date(look.nowMs).toISOString(),
    ...(clusterName === undefined ? {} : { clusterName }),
    ...(region === undefined ? {} : { region }),
  };
  yield { path: 'bundle.json', text: JSON.stringify(facts) };
  yield* clusterFiles(look.kube);
  yield* controllerLogs(look.kube, soFar());
  const asked = questionsOf(soFar(), clusterName);
  if (asked === undefined) return;
  const clients = await accountClients(options);
  if (clients === undefined) return;
  // Brings the AWS SDK with it, which no other command should wait for.
  const { accountQuestions, answerOf, furtherQuestions } = await import('../../../aws/index.ts');
  try {
    const questions = accountQuestions(clients, asked);
    for (const question of questions) {
      const answer = await answerOf(question);
      questions.push(...furtherQuestions(clients, answer));
      yield fileOf(answer);
    }
  } finally {
    clients.destroy();
  }
}

function fileOf(answer: AccountAnswer): LiveFile {
  if (answer.kind === 'refusal') return { path: `aws/${answer.name}.err`, text: answer.text };
  return { path: `aws/${answer.name}.json`, text: JSON.stringify(answer.body) };
}
