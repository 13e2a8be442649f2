// The small part of XML that EC2 and IAM speak: elements with text or children. Attributes, comments and namespaces are
// read over; the SDK does not look at them either.

export interface XmlElement {
  name: string;
  text: string;
  children: XmlElement[];
}

/** What `element` accepts as content; undefined entries are left out. */
export type XmlContent = string | number | boolean | undefined | (XmlElement | undefined)[];

export function element(name: string, content: XmlContent = []): XmlElement {
  if (Array.isArray(content)) return { name, text: '', children: content.filter((child) => child !== undefined) };
  return { name, text: content === undefined ? '' : String(content), children: [] };
}

/** A list as EC2 writes it: one `item` per entry. */
export function itemSet(name: string, items: XmlContent[]): XmlElement {
  return element(
    name,
    items.map((item) => element('item', item)),
  );
}

export function childOf(parent: XmlElement | undefined, ...path: string[]): XmlElement | undefined {
  let found = parent;
  for (const name of path) found = found?.children.find((child) => child.name === name);
  return found;
}

export function textOf(parent: XmlElement | undefined, ...path: string[]): string | undefined {
  return childOf(parent, ...path)?.text;
}

export function itemsOf(parent: XmlElement | undefined, ...path: string[]): XmlElement[] {
  return childOf(parent, ...path)?.children ?? [];
}

/** Replaces the child of the same name, or adds it. */
export function setChild(parent: XmlElement, child: XmlElement): void {
  const at = parent.children.findIndex(({ name }) => name === child.name);
  if (at < 0) parent.children.push(child);
  else parent.children[at] = child;
}

/** JSON in the API's words (`VCpuInfo`, lists, numbers) as EC2 writes it (`vCpuInfo`, `item`). */
export function fromJson(name: string, value: unknown): XmlElement {
  const key = name.charAt(0).toLowerCase() + name.slice(1);
  if (Array.isArray(value))
    return element(
      key,
      value.map((entry) => fromJson('item', entry)),
    );
  if (typeof value === 'object' && value !== null) {
    return element(
      key,
      Object.entries(value).map(([field, entry]) => fromJson(field, entry)),
    );
  }
  return element(key, value as string | number | boolean);
}

export function renderXml({ name, text, children }: XmlElement): string {
  return `<${name}>${children.length > 0 ? children.map(renderXml).join('') : escapeXml(text)}</${name}>`;
}

export function parseXml(source: string): XmlElement {
  const root: XmlElement = { name: '', text: '', children: [] };
  const open: XmlElement[] = [root];
  const tag = /<([/?!]?)([^\s>/]+)[^>]*?(\/?)>|([^<]+)/g;
  for (const [, sign, name = '', selfClosing, text] of source.matchAll(tag)) {
    const current = open.at(-1) ?? root;
    if (text !== undefined) current.text += unescapeXml(text);
    else if (sign === '/') open.pop();
    else if (sign === '') {
      const child: XmlElement = { name, text: '', children: [] };
      current.children.push(child);
      if (selfClosing === '') open.push(child);
    }
  }
  const [document] = root.children;
  if (document === undefined || open.length !== 1) throw new Error(`not well-formed XML: ${source.slice(0, 200)}`);
  return document;
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function unescapeXml(text: string): string {
  return text.replaceAll(/&(#x?)?(\w+);/g, (whole: string, number: string | undefined, name: string) => {
    if (number === '#') return String.fromCodePoint(Number.parseInt(name, 10));
    if (number === '#x') return String.fromCodePoint(Number.parseInt(name, 16));
    return entities[name] ?? whole;
  });
}
