// `npm run check`: what people run while working. At most 90 seconds.
import { checkTasks } from './suites.ts';
import { runTasks } from './tasks.ts';

process.exit((await runTasks(checkTasks)) ? 0 : 1);
