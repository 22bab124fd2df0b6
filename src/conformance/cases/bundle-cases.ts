import assert from 'node:assert/strict';
import {PassThrough, Writable} from 'node:stream';
import {finished} from 'node:stream/promises';
import type {BundleId, DownloadResume, DownloadStart} from '../../backends/contract.js';
import {anyError, expectAbort, expectAnswer, expectBytes, expectError} from '../expectations.js';
import {shown, unknownBundle, type ExpectedError} from '../expectations.js';
import {bundleOperations} from '../operations.js';
import type {Case, MemberCases, Subject} from '../subject.js';

export const bundleCases = {
  download: [
    {
      name: 'download: returns the uploaded bytes',
      proves:
        'Bytes, digest and total match the upload. With the validator of its archive, a download resumes where it ' +
        'says or starts over; with another one, it starts over. After an abort, it ends within a second.',
      async run(subject) {
        const bundle = await subject.makeBundle();
        const {size, sha256} = bundle;
        const [bundleId, otherId] = [await subject.upload(bundle), await subject.upload()];
        const {content, ...start} = await fetchArchive(subject, bundleId);
        const found = {offset: start.offset, total: start.total ?? size, sha256: start.sha256 ?? sha256};
        expectAnswer('the start of the download', found, {offset: 0, total: size, sha256});
        await expectBytes('the download', bundle.createReadStream(), async () => content);

        const {validator: other} = await fetchArchive(subject, otherId);
        // Without a validator, the host never resumes.
        if (start.validator !== undefined && other !== undefined) {
          const differ = start.validator !== other;
          assert.ok(differ, `Expected two archives to have different validators, not ${other}.`);
          await assertResumed(subject, bundleId, {size, validator: start.validator, isSame: true});
          await assertResumed(subject, bundleId, {size, validator: other, isSame: false});
        }

        await expectAbort('the download', (signal, abort) => {
          // Accepts one chunk and never finishes it.
          return subject.call('download', {bundleId, writeTo: new Writable({write: abort})}, {signal});
        });
      },
    },
  ],
  deleteBundle: [
    {
      name: 'delete: removes the bundle and no other',
      proves:
        'The bundle is gone, with everything that `countUploads` counts of it. Deleting it again is refused, the next one ' +
        'does not get its ID, and bundles with the same content or message stay.',
      async run(subject) {
        const unwanted = await subject.makeBundle();
        const namesake = await subject.makeBundle({message: unwanted.message});
        const [copyId, namesakeId] = [await subject.upload(unwanted), await subject.upload(namesake)];
        const bundleId = await subject.upload(unwanted);
        const kept = (await subject.service.countUploads?.()) ?? 0;
        await subject.call('deleteBundle', {bundleId});
        await subject.assertGone(unwanted, bundleId, 'its deletion');
        await subject.assertKept(kept - 1, 'the deletion of one of them');
        const again = subject.call('deleteBundle', {bundleId});
        await expectError(`a deletion of ${shown(bundleId)}, which is gone,`, again, unknownBundle);
        const nextId = await subject.upload();
        const used = [copyId, namesakeId, bundleId].filter((id) => id === nextId);
        expectAnswer('the earlier bundles with the ID of an upload after the deletion', used, []);
        // A service may store equal archives once.
        if (copyId !== bundleId)
          await subject.assertArrived(unwanted, copyId, 'the deletion of a bundle with its content');
        await subject.assertArrived(namesake, namesakeId, 'the deletion of a bundle with its message');
      },
    },
  ],
} as const satisfies MemberCases;

/** The cases of IDs that no bundle has. */
export const idCases: readonly Case[] = bundleOperations.map(({name, needs, run}) => ({
  name: `${name}: an unknown bundle is refused with a code`,
  needs: [needs],
  proves: 'An unknown ID is `ERR_BUNDLE_UNKNOWN` or a 404. An ID with `?`, `#` or `..` is refused: encode it in URLs.',
  async run(subject) {
    const bundle = await subject.makeBundle();
    const id = await subject.upload(bundle);
    const call = (bundleId: BundleId) => run(subject, {bundleId, bundle});
    await expectUnknown(`${name} of the unknown bundle`, id, call, unknownBundle);
    await subject.assertArrived(bundle, id, `${name} of IDs that look like its own`);
  },
}));

/** Downloads an archive, with what the backend says when it starts. */
async function fetchArchive(
  subject: Subject,
  bundleId: BundleId,
  resume?: DownloadResume,
): Promise<DownloadStart & {readonly content: Buffer}> {
  const pieces: Buffer[] = [];
  let started: DownloadStart = {offset: 0};
  const writeTo = new PassThrough().on('data', (piece: Buffer) => void pieces.push(piece));
  await subject.call('download', {bundleId, writeTo, resume, onStart: (start) => void (started = start)});
  // Like the host, which ends what a backend has left open.
  await finished(writeTo.end());
  return {...started, content: Buffer.concat(pieces)};
}

/** Asserts that a download with a validator goes on in the middle or starts over, which it must for another archive. */
async function assertResumed(
  subject: Subject,
  bundleId: BundleId,
  {size, validator, isSame}: {readonly size: number; readonly validator: string; readonly isSame: boolean},
): Promise<void> {
  const half = Math.floor(size / 2);
  const {content, offset, total = size} = await fetchArchive(subject, bundleId, {offset: half, validator});
  const start = offset === half && isSame ? half : 0;
  const whose = isSame ? 'its own validator' : 'the validator of another archive';
  const what = `the start and length of a download with ${whose}, ${validator}, resumed at ${half},`;
  const expected = {offset: start, total: size, length: size - start};
  const advice = 'Send the validator as If-Range, or compare it, and report the total of the whole archive.';
  expectAnswer(what, {offset, total, length: content.length}, expected, advice);
}

/** An ID that nothing has, of the same form as `id`: a service may refuse any other before it looks. */
export function unknownIdLike(id: BundleId): BundleId {
  if (typeof id === 'number') return 999_999_999;
  if (/^\d{1,9}$/.test(id)) return '999999999';
  // A UUID, a digest or the like.
  const isHex = /^[0-9a-f-]{20,}$/i.test(id);
  return isHex ? id.replaceAll(/[0-9a-f]/gi, '0').replace(/^(0{8}-0{4}-)0(0{3}-)0/, '$14$28') : 'no-such-bundle';
}

/**
 * Asserts that IDs that nothing has are refused: one like `id`, with the expected error, and those that lead to `id` in
 * a URL or a path that they are not encoded for, with any.
 */
export async function expectUnknown(
  what: string,
  id: BundleId,
  call: (unknownId: BundleId) => Promise<unknown>,
  expected: ExpectedError,
): Promise<void> {
  const unknownId = unknownIdLike(id);
  await expectError(`${what} ${shown(unknownId)}`, call(unknownId), expected);
  const alike = typeof id === 'number' ? [] : [`${id}?`, `${id}#x`, `x/../${id}`, `./${id}`, `${id}/.`];
  for (const other of alike) {
    await expectError(`${what} ${shown(other)}`, call(other), anyError, 'Encode IDs in URLs and paths.');
  }
}
