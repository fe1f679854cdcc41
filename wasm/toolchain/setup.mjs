/** Installs what a command needs and the machine lacks: system packages and node_modules. */
import { execFileSync, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packages } from './packages.mjs';

export const projectRoot = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** Something only the user can mend; the message is one sentence that says how. */
export class SetupError extends Error {}

/** Runs `main` and turns its failure into an exit status; a SetupError is printed as its sentence. */
export async function runMain(/** @type {() => Promise<void>} */ main) {
  try {
    requireNode();
    await main();
  } catch (error) {
    console.error(error instanceof SetupError ? `\n${error.message}` : error);
    process.exitCode = 1;
  }
}

function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new SetupError(`Please use Node 20.19 or newer: this is ${process.version}.`);
  }
}

/**
 * Runs a program in the project's folder with the terminal's own output; throws when it fails.
 * @param {string} command
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 */
export function run(command, args, env = process.env) {
  const result = spawnSync(command, args, { cwd: projectRoot, stdio: 'inherit', env });
  if (result.error)
    throw new SetupError(`${command} could not be started: ${result.error.message}.`);
  if (result.status !== 0) {
    throw new SetupError(`Stopped: \`${command} ${args.join(' ')}\` failed (see above).`);
  }
}

/** The full path of a program on PATH, or null. */
export function findProgram(/** @type {string} */ name) {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}

export const isDebianLike = () => existsSync('/etc/debian_version') && !!findProgram('apt-get');

export const isRoot = () => process.getuid?.() === 0;

/** How commands run as root here: directly, through sudo without a password, or (null) not at all. */
function rootPrefix() {
  if (isRoot()) return [];
  const sudo = findProgram('sudo');
  if (sudo && spawnSync(sudo, ['-n', 'true']).status === 0) return [sudo, '-n'];
  return null;
}

/** Whether this account could install a package through apt. */
export const canInstall = () => isDebianLike() && rootPrefix() !== null;

/**
 * Installs those packages of the groups that are missing.
 * @param {(keyof typeof packages)[]} groups
 */
export function ensurePackages(...groups) {
  const debian = isDebianLike();
  const missing = groups
    .flatMap((group) => /** @type {import('./packages.mjs').SystemPackage[]} */ (packages[group]))
    .filter(({ command, file }) => {
      if (command) return !findProgram(command);
      return debian && file !== undefined && !existsSync(file);
    })
    .map(({ name }) => name);
  installPackages([...new Set(missing)]);
}

/** Installs Debian packages, or says in one sentence why it cannot. */
export function installPackages(/** @type {string[]} */ names) {
  if (names.length === 0) return;
  const list = names.join(' ');
  if (!isDebianLike()) {
    throw new SetupError(
      `Please install these first (Debian's names; there is no apt here): ${list}.`,
    );
  }
  if (!canInstall()) {
    throw new SetupError(
      `Please run \`apt install ${list}\` as root first: this account is not root and has no sudo without a password.`,
    );
  }
  console.log(`Installing with apt: ${list}`);
  const passed = aptGet('update') && aptGet('install', '-y', '--no-install-recommends', ...names);
  if (!passed) {
    throw new SetupError(`apt could not install ${list} (see above): please install it by hand.`);
  }
}

/** Runs apt-get as root, silent unless it fails. Only where `canInstall`. */
export function aptGet(/** @type {string[]} */ ...args) {
  const apt = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq'];
  const [command = '', ...rest] = [...(rootPrefix() ?? []), ...apt, ...args];
  const options = [...rest, '-o', 'DPkg::Lock::Timeout=300'];
  const { status, stdout, stderr } = spawnSync(command, options, {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (status !== 0) console.error(stdout, stderr);
  return status === 0;
}

/** Runs `npm ci` when a package's node_modules is missing or is not what its package-lock.json says. */
export function ensureNodeModules(folder = projectRoot) {
  if (nodeModulesMatchLock(folder)) return;
  console.log(`Installing ${relative(projectRoot, join(folder, 'node_modules'))} (npm ci)`);
  run('npm', ['ci', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error']);
}

function nodeModulesMatchLock(/** @type {string} */ folder) {
  const installedPath = join(folder, 'node_modules/.package-lock.json');
  if (!existsSync(installedPath)) return false;
  const wanted = readPackages(join(folder, 'package-lock.json'));
  const installed = readPackages(installedPath);
  return Object.entries(wanted).every(([path, { version, optional }]) => {
    const found = installed[path];
    // Optional packages for other systems are listed in the lock but never installed.
    return path === '' || (found ? found.version === version : optional === true);
  });
}

/**
 * @param {string} path
 * @returns {Record<string, { version?: string, optional?: boolean }>}
 */
function readPackages(path) {
  return JSON.parse(readFileSync(path, 'utf8')).packages;
}

/**
 * The Chromium for browser tests: its headless shell, which has no windows and is twice as fast, or a
 * whole one where that cannot be installed. Needs node_modules.
 */
export async function ensureTestChromium() {
  if (!findProgram(headlessShell) && canInstall()) {
    try {
      ensurePackages('browserShell');
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
    }
  }
  return findProgram(headlessShell) ?? (await ensureChromium());
}

/** A whole Chromium, installed when there is none. Needs node_modules. */
export async function ensureChromium() {
  const found = await findChromium();
  if (found) return found;
  if (!canInstall()) {
    throw new SetupError(
      'No Chromium was found: please install it (on Debian `apt install chromium`) or run `npx playwright install chromium`.',
    );
  }
  ensurePackages('browser');
  return /** @type {string} */ (await findChromium());
}

const headlessShell = 'chromium-headless-shell';

/** What `ensureTestChromium` gives, without installing anything; null when there is none. */
export const findTestChromium = async () => findProgram(headlessShell) ?? (await findChromium());

/** A whole Chromium on PATH, or the one Playwright downloaded, or null. */
export async function findChromium() {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    const path = findProgram(name);
    if (path) return path;
  }
  const { chromium } = await import('@playwright/test');
  return existsSync(chromium.executablePath()) ? chromium.executablePath() : null;
}

/** The Firefox for benchmarks, installed when there is none. */
export function ensureFirefox() {
  const find = () => findProgram('firefox-esr') ?? findProgram('firefox');
  if (!find()) ensurePackages('firefox');
  return /** @type {string} */ (find());
}

/** The C++ sources of the project, tracked or new. */
export function cppFiles() {
  const list = ['ls-files', '--cached', '--others', '--exclude-standard', '*.cpp', '*.hpp'];
  const names = execFileSync('git', list, { cwd: projectRoot, encoding: 'utf8' })
    .trim()
    .split('\n');
  return names.filter((name) => existsSync(join(projectRoot, name)));
}
