import {posix} from 'node:path';
import prettyBytes from 'pretty-bytes';
import type {Backend, BundleFile} from '../../backends/contract.js';
import {backendTitle} from '../../backends/names.js';
import {createError} from '../../errors/index.js';
import {count} from '../../text/sentence.js';

const named = 5;

export function verifyLimits(
  {name, limits = {}}: Pick<Backend, 'name' | 'limits'>,
  {files, size = 0}: {readonly files: readonly Pick<BundleFile, 'path' | 'size'>[]; readonly size?: number | undefined},
): void {
  const {maxFiles = Infinity, maxBundleBytes = Infinity} = limits;
  const accepts = `the ${backendTitle(name)} backend accepts at most`;
  const tooLarge = (message: string, largest: string, details: Readonly<Record<string, unknown>>) =>
    createError('ERR_BUNDLE_TOO_LARGE', message, {
      suggestions: [largest, 'In .bundleignore, exclude what the application does not need.'],
      details: {backend: name, ...details},
    });
  if (files.length > maxFiles) {
    const counts = new Map<string, number>();
    for (const {path} of files) counts.set(posix.dirname(path), (counts.get(posix.dirname(path)) ?? 0) + 1);
    const largest = largestOf([...counts].map(([path, value]) => ({path, value})));
    const folders = largest.map(({path, value}) => `${path} (${count(value, 'file')})`).join(', ');
    throw tooLarge(
      `The bundle has ${count(files.length, 'file')}, but ${accepts} ${String(maxFiles)}.`,
      `The folders with the most files: ${folders}.`,
      {limit: 'maxFiles', maximum: maxFiles, actual: files.length, largest},
    );
  }
  if (size > maxBundleBytes) {
    const largest = largestOf(files.map((file) => ({path: file.path, value: file.size})));
    throw tooLarge(
      `The archive is ${exactBytes(size)}, but ${accepts} ${exactBytes(maxBundleBytes)}.`,
      `The largest files: ${largest.map(({path, value}) => `${path} (${prettyBytes(value)})`).join(', ')}.`,
      {limit: 'maxBundleBytes', maximum: maxBundleBytes, actual: size, largest},
    );
  }
}

/** `1.5 MB (1500000 bytes)`, `300 bytes`: two sizes that are nearly the same must not look the same. */
function exactBytes(size: number): string {
  if (size < 1000) return count(size, 'byte');
  return `${prettyBytes(size)} (${String(size)} bytes)`;
}

function largestOf<Share extends {readonly value: number}>(shares: readonly Share[]): readonly Share[] {
  return shares.toSorted((a, b) => b.value - a.value).slice(0, named);
}
