// The controllers of a shadow: its loop, and those that only read prices and instance types.

import type { ShadowReport } from '../../ports/index.ts';
import type { Controller, ControllerContext } from '../context.ts';
import type { Controllers } from '../controllers-of.ts';
import { InputWatch } from '../input-watch.ts';
import { ShadowLoop } from './shadow-loop.ts';

export interface Shadow extends Controllers {
  report(): ShadowReport;
}

/** `ofProvider` are the provider's own; those that look after node classes and instances are the other autoscaler's to run. */
export function shadowOf(context: ControllerContext, ofProvider: readonly Controller[]): Shadow {
  const loop = new ShadowLoop(context);
  return {
    controllers: ofProvider.filter(({ name }) => name.startsWith('providers.')),
    loops: [
      { name: 'shadow', run: (signal) => loop.run(signal) },
      { name: 'shadow.input', run: (signal) => new InputWatch(context).run(signal) },
    ],
    report: () => loop.report(),
  };
}
