// SSM GetParameter: Amazon's public names come from the world (moto refuses to store them), all others from moto.
import { type AwsAnswer, type AwsCall, AwsRefusal, type Handler, jsonAnswer } from './exchange.ts';
import type { World } from './world.ts';

async function getParameter(call: AwsCall, world: World): Promise<AwsAnswer | undefined> {
  const asked = String(call.json['Name'] ?? '');
  // A public parameter may be named by its ARN, which has no account: arn:aws:ssm:us-east-1::parameter/aws/…
  const name = asked.replace(/^arn:aws[\w-]*:ssm:[\w-]+:\d*:parameter\//, '/');
  const value = world.parameters.get(name);
  if (value !== undefined) {
    return jsonAnswer({
      Parameter: {
        Name: name,
        Type: 'String',
        DataType: 'text',
        Value: value,
        Version: 1,
        ARN: `arn:aws:ssm:${call.region}::parameter${name}`,
        LastModifiedDate: Math.floor(world.now() / 1000),
      },
    });
  }
  if (name.startsWith('/aws/service/')) throw new AwsRefusal('ParameterNotFound', `Parameter ${name} not found.`);
  return undefined;
}

export const ssmHandlers: Record<string, Handler<World>> = { GetParameter: getParameter };
