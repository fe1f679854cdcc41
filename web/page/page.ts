/** What only the hosted page does: it registers the element and switches the theme. */
import '../widget/define.ts';

const root = document.documentElement;
const share = document.querySelector<HTMLButtonElement>('#share');
const button = document.querySelector<HTMLButtonElement>('#theme');

const isDark = (): boolean =>
  root.dataset.theme
    ? root.dataset.theme === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches;

/** The button names the theme it leads to. */
function label(): void {
  if (button) button.textContent = isDark() ? 'Light' : 'Dark';
}

/** The button says for a moment what became of the link; the address bar holds it in any case. */
share?.addEventListener('click', async () => {
  const link = (await document.querySelector('attention-lab')?.link()) ?? location.href;
  history.replaceState(history.state, '', link);
  const said = share.textContent;
  share.textContent = await navigator.clipboard.writeText(link).then(
    () => 'Link copied',
    () => 'Copy it from the address bar',
  );
  setTimeout(() => {
    share.textContent = said;
  }, 2500);
});

button?.addEventListener('click', () => {
  root.dataset.theme = isDark() ? 'light' : 'dark';
  label();
});
label();
