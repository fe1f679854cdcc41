/** A directive that sets style properties through the CSSOM, which a strict style policy allows. */
import { noChange } from 'lit';
import { Directive, directive, type ElementPart, type PartInfo, PartType } from 'lit/directive.js';

export type CssProps = Readonly<Record<string, string>>;

class CssPropsDirective extends Directive {
  #set: CssProps = {};

  constructor(part: PartInfo) {
    super(part);
    if (part.type !== PartType.ELEMENT) throw new Error('cssProps belongs on an element');
  }

  render(_props: CssProps) {
    return noChange;
  }

  override update(part: ElementPart, [props]: [CssProps]) {
    const { style } = part.element as HTMLElement;
    for (const name in this.#set) if (!(name in props)) style.removeProperty(name);
    for (const name in props) {
      if (props[name] !== this.#set[name]) style.setProperty(name, props[name] as string);
    }
    this.#set = props;
    return noChange;
  }
}

/** `<td ${cssProps({'--chars': '5'})}>`; a property that is no longer named is removed. */
export const cssProps = directive(CssPropsDirective);
