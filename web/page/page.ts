/** What only the hosted page does: it registers the element and switches the theme. */
import '../widget/define.ts';

const root = document.documentElement;
const share = document.querySelector<HTMLButtonElement>('#share');
const said = document.querySelector<HTMLElement>('#said');
const button = document.querySelector<HTMLButtonElement>('#theme');

const isDark = (): boolean =>
  root.dataset.theme
    ? root.dataset.theme === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches;

/** The button names the theme it leads to. */
function label(): void {
  if (button) button.textContent = isDark() ? 'Light' : 'Dark';
}

/** A choice of theme lasts over visits where the browser lets the page keep something. */
const themeKey = 'attention-lab-theme';
function keptTheme(): string | null {
  try {
    return localStorage.getItem(themeKey);
  } catch {
    return null;
  }
}
function keepTheme(theme: string): void {
  try {
    localStorage.setItem(themeKey, theme);
  } catch {
    // Then the choice lasts as long as the page.
  }
}

/** For a moment it is said what became of the link; the address bar holds it in any case. */
share?.addEventListener('click', async () => {
  const link = (await document.querySelector('attention-lab')?.link()) ?? location.href;
  history.replaceState(history.state, '', link);
  if (!said) return;
  said.textContent = await navigator.clipboard.writeText(link).then(
    () => 'Link copied',
    () => 'Copy it from the address bar',
  );
  setTimeout(() => {
    said.textContent = '';
  }, 4000);
});

button?.addEventListener('click', () => {
  const theme = isDark() ? 'light' : 'dark';
  root.dataset.theme = theme;
  keepTheme(theme);
  label();
});
const kept = keptTheme();
if (kept === 'light' || kept === 'dark') root.dataset.theme = kept;
label();
