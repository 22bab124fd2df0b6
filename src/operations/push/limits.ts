import {posix} from 'node:path';
import prettyBytes from 'pretty-bytes';
import type {Backend, BundleFile} from '../../backends/contract.js';
import {createError} from '../../errors/index.js';
import {count} from '../../errors/sentence.js';

/** A bundle as far as it is known: its size only once it is packed. */
interface LimitedBundle {
  readonly files: readonly Pick<BundleFile, 'path' | 'size'>[];
  /** Bytes of the archive. */
  readonly size?: number | undefined;
}

/** What is largest in a bundle, for the error. */
interface Share {
  readonly path: string;
  readonly value: number;
}

/** How many of the largest files or folders an error names. */
const named = 5;

/**
 * Verifies that a backend takes a bundle of this size.
 * @throws RuntimeCliError `ERR_BUNDLE_TOO_LARGE` naming the limit, the number, and the largest files or folders.
 */
export function verifyLimits({name, limits = {}}: Pick<Backend, 'name' | 'limits'>, bundle: LimitedBundle): void {
  const {maxFiles = Infinity, maxBundleBytes = Infinity} = limits;
  const {files, size = 0} = bundle;
  if (files.length > maxFiles) {
    throw tooLarge(
      name,
      `The bundle has ${count(files.length, 'file')}, but the ${name} backend accepts at most ${String(maxFiles)}.`,
      {limit: 'maxFiles', maximum: maxFiles, actual: files.length},
      ['The folders with the most files', largestFolders(files), (value) => count(value, 'file')],
    );
  }
  if (size > maxBundleBytes) {
    throw tooLarge(
      name,
      `The archive has ${exactBytes(size)}, but the ${name} backend accepts at most ${exactBytes(maxBundleBytes)}.`,
      {limit: 'maxBundleBytes', maximum: maxBundleBytes, actual: size},
      ['The largest files', largestFiles(files), (value) => prettyBytes(value)],
    );
  }
}

function tooLarge(
  backend: string,
  message: string,
  facts: {readonly limit: string; readonly maximum: number; readonly actual: number},
  [title, largest, show]: readonly [string, readonly Share[], (value: number) => string],
): Error {
  return createError('ERR_BUNDLE_TOO_LARGE', message, {
    suggestions: [
      `${title}: ${largest.map(({path, value}) => `${path} (${show(value)})`).join(', ')}.`,
      'Exclude what the application does not need with --ignore or a .bundleignore file.',
    ],
    details: {backend, ...facts, largest},
  });
}

/** `1.5 MB (1500000 bytes)`, `300 bytes`: two sizes that are nearly the same must not look the same. */
export function exactBytes(size: number): string {
  if (size < 1000) return count(size, 'byte');
  return `${prettyBytes(size)} (${String(size)} bytes)`;
}

function largestFiles(files: LimitedBundle['files']): readonly Share[] {
  return largest(files.map(({path, size}) => ({path, value: size})));
}

/** The folders that directly contain the most files. */
function largestFolders(files: LimitedBundle['files']): readonly Share[] {
  const counts = new Map<string, number>();
  for (const {path} of files) {
    const folder = posix.dirname(path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return largest([...counts].map(([path, value]) => ({path, value})));
}

function largest(shares: readonly Share[]): readonly Share[] {
  return shares.toSorted((a, b) => b.value - a.value).slice(0, named);
}
