/** Finds an Emscripten that is new enough, or makes one in a private Debian 13 root. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { privateRootContents } from './packages.mjs';
import {
  aptGet,
  canInstall,
  ensurePackages,
  findProgram,
  installPackages,
  isDebianLike,
  isRoot,
  projectRoot,
  run,
  SetupError,
} from './setup.mjs';

/** The first version with relaxed SIMD, AOT-made Embind invokers and types as wanted here. */
const minimum = [3, 1, 69];

/** Emscripten calls a `tsc` from PATH; this folder holds one that runs the project's. */
const shims = join(projectRoot, 'wasm/toolchain/shims');

/**
 * `identity` changes when another Emscripten is used; `run` runs a program that sees it.
 * @typedef {{ identity: string, run: (command: string, ...args: string[]) => void }} Emscripten
 */

/** @returns {Emscripten} */
export function ensureEmscripten() {
  const own = findInstalled();
  if (own) return own;
  if (existsSync(privateRoot())) return enterPrivateRoot();
  if (canInstall() && isSufficient(candidateVersion())) {
    installPackages(['emscripten']);
    const installed = findInstalled();
    if (installed) return installed;
  }
  if (!isDebianLike()) {
    throw new SetupError(
      `Emscripten ${minimum.join('.')} or newer was not found: please install emsdk and put its emcc on PATH (or set EMSDK).`,
    );
  }
  makePrivateRoot();
  return enterPrivateRoot();
}

/** @returns {Emscripten | null} */
function findInstalled() {
  const emsdk = process.env.EMSDK && join(process.env.EMSDK, 'upstream/emscripten/emcc');
  for (const emcc of [findProgram('emcc'), emsdk]) {
    if (!emcc || !existsSync(emcc)) continue;
    const version = spawnSync(emcc, ['--version'], { encoding: 'utf8' }).stdout ?? '';
    if (!isSufficient(version)) continue;
    ensurePackages('wasmTools');
    const path = [shims, dirname(emcc), process.env.PATH].join(':');
    return {
      identity: `${emcc} ${version.split('\n')[0]}`,
      run: (command, ...args) => run(command, args, { ...process.env, PATH: path }),
    };
  }
  return null;
}

/** Whether the first version number in a text is at least the minimum. */
export function isSufficient(/** @type {string} */ text) {
  const found = /(\d+)\.(\d+)\.(\d+)/.exec(text)?.slice(1).map(Number);
  if (!found) return false;
  for (const [index, least] of minimum.entries()) {
    const part = /** @type {number} */ (found[index]);
    if (part !== least) return part > least;
  }
  return true;
}

/** The version of the emscripten package that apt could install, or an empty text. */
function candidateVersion() {
  const ask = () => spawnSync('apt-cache', ['policy', 'emscripten'], { encoding: 'utf8' }).stdout;
  const candidate = () => /Candidate: (\d.*)/.exec(ask())?.[1] ?? '';
  // A fresh container knows no packages before its first update.
  return candidate() || (aptGet('update') && candidate()) || '';
}

/** Shared by all clones of one user. */
function privateRoot() {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'attention-lab/debian-13');
}

/** Makes the root under a temporary name and renames it when it is whole. */
function makePrivateRoot() {
  ensurePackages(
    'privateRoot',
    ...(isRoot() ? [] : [/** @type {const} */ ('privateRootUnprivileged')]),
  );
  const root = privateRoot();
  mkdirSync(dirname(root), { recursive: true });
  removeAbandoned(root);
  const part = partialName(root, process.pid);
  console.log(`Making a private Debian 13 with Emscripten in ${root} (once; some minutes, 2.5 GB)`);
  const { status, stderr, error } = spawnSync(
    'mmdebstrap',
    [
      '--variant=essential',
      `--mode=${isRoot() ? 'root' : 'unshare'}`,
      `--include=${privateRootContents.join(',')}`,
      'trixie',
      part,
    ],
    { encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'], maxBuffer: 1 << 28 },
  );
  if (error || status !== 0) {
    rmSync(part, { recursive: true, force: true });
    console.error(error?.message ?? stderr.split('\n').slice(-20).join('\n'));
    throw new SetupError(
      `A private Debian 13 could not be made (see above; containers often refuse it): please install Emscripten ${minimum.join('.')} or newer yourself, as Debian 13's package or emsdk, and put emcc on PATH.`,
    );
  }
  if (existsSync(root)) rmSync(part, { recursive: true, force: true });
  else renameSync(part, root);
}

const partialName = (/** @type {string} */ root, /** @type {number} */ pid) =>
  `${root}.part-${pid}`;

/** Removes what interrupted runs have left; those of running processes stay. */
function removeAbandoned(/** @type {string} */ root) {
  for (const name of readdirSync(dirname(root))) {
    const pid = Number(/^debian-13\.part-(\d+)$/.exec(name)?.[1]);
    if (pid && !existsSync(`/proc/${pid}`)) {
      rmSync(partialName(root, pid), { recursive: true, force: true });
    }
  }
}

/** @returns {Emscripten} */
function enterPrivateRoot() {
  ensurePackages('privateRoot');
  const root = privateRoot();
  const links = ['bin', 'lib', 'lib64', 'sbin'].flatMap((name) => [
    '--symlink',
    `usr/${name}`,
    `/${name}`,
  ]);
  const enter = [
    ...['--unshare-all', '--die-with-parent', '--tmpfs', '/'],
    ...['--ro-bind', join(root, 'usr'), '/usr', '--ro-bind', join(root, 'etc'), '/etc', ...links],
    ...['--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--bind', projectRoot, projectRoot],
    ...['--clearenv', '--setenv', 'HOME', '/tmp', '--setenv', 'PATH', `${shims}:/usr/bin`],
    ...['--chdir', projectRoot],
  ];
  return { identity: root, run: (command, ...args) => run('bwrap', [...enter, command, ...args]) };
}
