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
    const before = this.#set;
    this.#set = props;
    // Of thousands of cells few change: the others are not even asked for their style.
    const element = part.element as HTMLElement;
    for (const name in before) if (!(name in props)) element.style.removeProperty(name);
    for (const name in props) {
      if (props[name] !== before[name]) element.style.setProperty(name, props[name] as string);
    }
    return noChange;
  }
}

/** `<td ${cssProps({'--chars': '5'})}>`; a property that is no longer named is removed. */
export const cssProps = directive(CssPropsDirective);
