/** Registers <attention-lab>, once, however often the script is loaded. */
import { AttentionLabElement, tagName } from './element.ts';

if (!customElements.get(tagName)) customElements.define(tagName, AttentionLabElement);

declare global {
  interface HTMLElementTagNameMap {
    'attention-lab': AttentionLabElement;
  }
}

export { AttentionLabElement };
