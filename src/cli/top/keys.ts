// Keys of `kerf top`: raw input of a terminal as changes of what is shown.
import type { Settings } from './picture.ts';

export class Keys {
  isFrozen = false;
  private readonly settings: Settings;
  private readonly sorts: readonly Settings['sort'][];
  private readonly end: () => void;
  private typing = false;
  private wake: (() => void) | undefined;
  private readonly read = (chunk: Buffer): void => {
    for (const key of chunk.toString('utf8')) this.press(key);
    this.wake?.();
  };

  constructor(settings: Settings, sorts: readonly Settings['sort'][], end: () => void) {
    this.settings = settings;
    this.sorts = sorts;
    this.end = end;
    if (process.stdin.isTTY) process.stdin.setRawMode(true);
    process.stdin.resume();
    process.stdin.on('data', this.read);
  }

  /** Resolves at the next key. */
  pressed(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  line(): string {
    if (this.typing) return `filter: ${this.settings.filter}_`;
    const { sort, onlyKept, filter } = this.settings;
    const state = [this.isFrozen ? 'frozen' : '', filter === '' ? '' : `filter ${filter}`, onlyKept ? 'only kept' : ''];
    const reported = state.filter((each) => each !== '').join(', ');
    return `s sort (${sort})  v kept  / filter  space freeze  q quit${reported === '' ? '' : `   ${reported}`}`;
  }

  close(): void {
    process.stdin.off('data', this.read);
    if (process.stdin.isTTY) process.stdin.setRawMode(false);
    process.stdin.pause();
  }

  private press(key: string): void {
    const { settings } = this;
    if (key === '\x03') this.end();
    else if (this.typing) {
      if (key === '\r' || key === '\x1b') this.typing = false;
      else if (key === '\x7f') settings.filter = settings.filter.slice(0, -1);
      else settings.filter += key;
    } else if (key === 'q') this.end();
    else if (key === ' ') this.isFrozen = !this.isFrozen;
    else if (key === 'v') settings.onlyKept = !settings.onlyKept;
    else if (key === 's') {
      settings.sort = this.sorts[(this.sorts.indexOf(settings.sort) + 1) % this.sorts.length] ?? 'price';
    } else if (key === '/') {
      this.typing = true;
      settings.filter = '';
    }
  }
}
