/** What only the hosted page does: it registers the element and switches the theme. */
import '../widget/define.ts';

const root = document.documentElement;
const button = document.querySelector<HTMLButtonElement>('#theme');

const isDark = (): boolean =>
  root.dataset.theme
    ? root.dataset.theme === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches;

/** The button names the theme it leads to. */
function label(): void {
  if (button) button.textContent = isDark() ? 'Light' : 'Dark';
}

button?.addEventListener('click', () => {
  root.dataset.theme = isDark() ? 'light' : 'dark';
  label();
});
label();
