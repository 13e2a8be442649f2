// What the rigs' own commands share: errors as one readable message, and waiting for Ctrl-C.

export async function runCommand(name: string, main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}

export async function untilInterrupted(): Promise<void> {
  // Listening for a signal does not keep a process alive; a timer does.
  const alive = setInterval(() => {}, 1 << 30);
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
  });
  clearInterval(alive);
}
