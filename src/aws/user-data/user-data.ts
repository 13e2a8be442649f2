// User data of an instance, as text. EC2 takes it as base64 of at most 16,384 bytes; who sends it encodes it.
//
// User data may hold secrets: neither it nor parts of it appear in errors, logs or events.
import type { AmiFamily } from '../instance-types/ami-family.ts';
import { amazonLinux2 } from './amazon-linux-2.ts';
import { amazonLinux2023 } from './amazon-linux-2023.ts';
import { bottlerocket } from './bottlerocket.ts';
import { type UserDataInput, type UserDataRequest, userDataInput } from './input.ts';
import { windows } from './windows.ts';

const builders: Readonly<Record<AmiFamily, (input: UserDataInput) => string>> = {
  AL2: amazonLinux2,
  AL2023: amazonLinux2023,
  Bottlerocket: bottlerocket,
  Windows2019: windows,
  Windows2022: windows,
  Windows2025: windows,
  // Byte for byte what the user wrote, who then also sees to taints and kubelet settings.
  Custom: ({ nodeClass }) => nodeClass.spec.userData ?? '',
};

export function userDataFor(request: UserDataRequest): string {
  const input = userDataInput(request);
  return builders[input.family](input);
}
