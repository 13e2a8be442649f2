// Offerings (instance type, zone, capacity type) whose launches failed, as providers remember them.
//
// 1. An offering is left alone for the time spells.ts gives it; what is past its time is available at once, whoever looks.
// 2. Three sizes of a family that fail in a place make larger ones suspected for three minutes (families.ts). A success
//    ends suspicions about sizes that are not larger, and the time of what failed a minute ago or earlier in that family and
//    place: it may be tried again.
// 3. `onChange` is called with the type whenever the answer for one of its offerings changes, also by the end of its time.
import { type Clock, formatTime } from '../../base/index.ts';
import type { FailedOffering } from '../snapshot.ts';
import { familyAndSize, familyPlace, type OfferingName, suspectedSizes } from './families.ts';
import { firstSpellMs, isForgotten, isProbeDue, type Spell, spellAfter } from './spells.ts';

interface Entry {
  readonly name: OfferingName;
  spell: Spell;
  reason: string;
  isSuspected: boolean;
  /** Its end was seen. */
  isOver: boolean;
}

export interface OfferingMemoryOptions {
  clock: Pick<Clock, 'elapsed' | 'now'>;
  /** Names of all types of the provider; the same array while nothing changed. */
  typeNames?: () => readonly string[];
  onChange?: (instanceType: string) => void;
}

/** More than a catalogue has in the zones of a cluster. */
const mostEntries = 20_000;

export class OfferingMemory {
  private readonly options: OfferingMemoryOptions;
  private readonly entries = new Map<string, Entry>();
  /** The same entries, by family and place. */
  private readonly byPlace = new Map<string, Map<string, Entry>>();
  private nextEndMs = Number.POSITIVE_INFINITY;
  private siblings: { of: readonly string[]; byFamily: Map<string, string[]> } | undefined;

  constructor(options: OfferingMemoryOptions) {
    this.options = options;
  }

  /** `isShortage`: the provider had no machine to give, so that larger ones of the family may be missing too. */
  failed(name: OfferingName, reason: string, { isShortage = false } = {}): void {
    this.forget();
    const nowMs = this.options.clock.elapsed();
    const known = this.entries.get(keyOf(name));
    // A suspicion is not a failure that the next one could add to.
    const spell = spellAfter(known?.isSuspected === true ? undefined : known?.spell, nowMs);
    this.set({ name, spell, reason, isSuspected: false, isOver: false });
    if (isShortage) this.suspect(name, nowMs);
  }

  /** A machine came. */
  succeeded(name: OfferingName): void {
    this.forget();
    const own = this.entries.get(keyOf(name));
    const related = [
      ...(this.byPlace.get(familyPlace(name) ?? '')?.values() ?? []),
      ...(own === undefined ? [] : [own]),
    ];
    const size = familyAndSize(name.instanceType)?.size ?? 0;
    for (const entry of new Set(related)) {
      const isNews = !entry.isOver;
      if (entry !== own) {
        const isLarger = (familyAndSize(entry.name.instanceType)?.size ?? 0) > size;
        if (entry.isSuspected ? isLarger : !this.isProbeDue(entry.name)) continue;
      }
      if (entry === own || entry.isSuspected) this.delete(entry);
      else if (isNews) entry.spell = { ...entry.spell, untilMs: this.options.clock.elapsed() };
      entry.isOver = true;
      if (isNews) this.options.onChange?.(entry.name.instanceType);
    }
  }

  isLeftAlone(name: OfferingName): boolean {
    if (this.entries.size === 0) return false;
    this.forget();
    return this.entries.get(keyOf(name))?.isOver === false;
  }

  /** When it last failed, by the time that passed; before everything if it did not, or is only suspected. */
  lastFailedMs(name: OfferingName): number {
    const entry = this.entries.get(keyOf(name));
    return entry === undefined || entry.isSuspected ? Number.NEGATIVE_INFINITY : entry.spell.failedMs;
  }

  /** Whether a pod without another choice may ask for it. */
  isProbeDue(name: OfferingName): boolean {
    return isProbeDue({ failedMs: this.lastFailedMs(name) }, this.options.clock.elapsed());
  }

  /** As snapshots list them; with `probing`, without those that may be asked for again. */
  list({ probing = false } = {}): FailedOffering[] {
    this.forget();
    // Times end by elapsed time; readers compare with the wall clock.
    const wallMs = this.options.clock.now() - this.options.clock.elapsed();
    return [...this.entries.values()].flatMap(({ name, spell, reason, isOver }) =>
      isOver || (probing && this.isProbeDue(name))
        ? []
        : [{ ...name, until: formatTime(wallMs + spell.untilMs), reason: reasonText(reason, spell) }],
    );
  }

  clear(): void {
    const live = [...this.entries.values()].filter(({ isOver }) => !isOver);
    this.entries.clear();
    this.byPlace.clear();
    for (const { name } of live) this.options.onChange?.(name.instanceType);
  }

  private suspect(name: OfferingName, nowMs: number): void {
    const family = familyAndSize(name.instanceType)?.family;
    const { typeNames } = this.options;
    if (family === undefined || typeNames === undefined) return;
    const failed = [...(this.byPlace.get(familyPlace(name) ?? '')?.values() ?? [])].filter(
      ({ isOver, isSuspected, spell }) => !isOver && !isSuspected && nowMs - spell.failedMs < firstSpellMs,
    );
    const names = failed.map(({ name: other }) => other);
    for (const instanceType of suspectedSizes(names, this.siblingsIn(family, typeNames()))) {
      const other = { ...name, instanceType };
      if (this.entries.get(keyOf(other))?.isOver === false) continue;
      const spell = { failures: 1, failedMs: nowMs, untilMs: nowMs + firstSpellMs };
      const reason = `suspected, as ${failed.length} other sizes of ${family} failed here`;
      this.set({ name: other, spell, reason, isSuspected: true, isOver: false });
    }
  }

  private siblingsIn(family: string, names: readonly string[]): readonly string[] {
    if (this.siblings?.of !== names) {
      const byFamily = new Map<string, string[]>();
      for (const name of names) {
        const own = familyAndSize(name)?.family ?? '';
        const known = byFamily.get(own);
        if (known === undefined) byFamily.set(own, [name]);
        else known.push(name);
      }
      this.siblings = { of: names, byFamily };
    }
    return this.siblings.byFamily.get(family) ?? [];
  }

  private set(entry: Entry): void {
    const key = keyOf(entry.name);
    if (this.entries.size >= mostEntries && !this.entries.has(key)) return;
    this.entries.set(key, entry);
    const place = familyPlace(entry.name);
    if (place !== undefined) {
      const others = this.byPlace.get(place) ?? new Map<string, Entry>();
      this.byPlace.set(place, others.set(key, entry));
    }
    this.nextEndMs = Math.min(this.nextEndMs, entry.spell.untilMs);
    this.options.onChange?.(entry.name.instanceType);
  }

  private delete({ name }: Entry): void {
    const key = keyOf(name);
    this.entries.delete(key);
    const place = familyPlace(name) ?? '';
    this.byPlace.get(place)?.delete(key);
    if (this.byPlace.get(place)?.size === 0) this.byPlace.delete(place);
  }

  /** Takes notice of what is past its time. */
  forget(): void {
    const nowMs = this.options.clock.elapsed();
    if (nowMs < this.nextEndMs) return;
    this.nextEndMs = Number.POSITIVE_INFINITY;
    for (const entry of this.entries.values()) {
      if (entry.spell.untilMs > nowMs) {
        this.nextEndMs = Math.min(this.nextEndMs, entry.spell.untilMs);
        continue;
      }
      const isNews = !entry.isOver;
      entry.isOver = true;
      if (entry.isSuspected || isForgotten(entry.spell, nowMs)) this.delete(entry);
      if (isNews) this.options.onChange?.(entry.name.instanceType);
    }
  }
}

const keyOf = ({ instanceType, zone, capacityType }: OfferingName): string => `${capacityType}:${instanceType}:${zone}`;

const reasonText = (reason: string, { failures }: Spell): string =>
  failures < 2 ? reason : `${reason} (${failures} times in a row)`;
