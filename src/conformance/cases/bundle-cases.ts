import assert from 'node:assert/strict';
import {PassThrough, Readable, Writable} from 'node:stream';
import {finished} from 'node:stream/promises';
import type {BundleId, DownloadResume, DownloadStart} from '../../backends/contract.js';
import {anyError, expectAbort, expectAnswer, expectBytes, expectError} from '../expectations.js';
import {shown, unknownBundle, type ExpectedError} from '../expectations.js';
import {largeBytes} from '../make-bundles.js';
import {bundleOperations} from '../operations.js';
import type {Case, MemberCases, Subject} from '../subject.js';

export const bundleCases = {
  download: [
    {
      name: 'download: returns the uploaded bytes',
      proves:
        'Bytes, digest and total match the upload of 17 MiB. With the validator of its archive, a download resumes ' +
        'where it says or starts over; with another one, it starts over. After an abort, it ends within a second.',
      async run(subject) {
        // Larger than the parts that a service may keep.
        const bundle = await subject.makeBundle({contentBytes: largeBytes});
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
          const offsets = [1, 5, 8].map((mebibytes) => mebibytes * 1024 * 1024 + 1).filter((offset) => offset < size);
          for (const offset of [Math.floor(size / 2), ...offsets]) {
            await assertResumed(subject, bundleId, content, {offset, validator: start.validator, isSame: true});
          }
          await assertResumed(subject, bundleId, content, {offset: 1, validator: other, isSame: false});
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
        'The bundle is gone, and `countUploads` counts nothing of it. Deleting it again is refused, the next one ' +
        'does not get its ID, and bundles with the same content, 17 MiB, or message stay.',
      async run(subject) {
        // Its parts may be shared with its copy.
        const unwanted = await subject.makeBundle({contentBytes: largeBytes});
        const namesake = await subject.makeBundle({message: unwanted.message});
        const [bundleId, namesakeId] = [await subject.upload(unwanted), await subject.upload(namesake)];
        const copyId = await subject.upload(unwanted);
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

export const idCases: readonly Case[] = bundleOperations.map(({name, needs, run}) => ({
  name: `${name}: an unknown bundle is refused with a code`,
  needs: [needs],
  proves:
    'An unknown ID is `ERR_BUNDLE_UNKNOWN` or a 404. An ID with `?`, `#`, `..` or SQL is refused: encode it in URLs. ' +
    'So is another spelling of the same number, such as `01` for `1`, and an ID of `_`, a wildcard in SQL.',
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
  archive: Buffer,
  {offset, validator, isSame}: DownloadResume & {readonly isSame: boolean},
): Promise<void> {
  const {content, ...started} = await fetchArchive(subject, bundleId, {offset, validator});
  const start = started.offset === offset && isSame ? offset : 0;
  const whose = isSame ? 'its own validator' : 'the validator of another archive';
  const what = `a download with ${whose}, ${validator}, resumed at ${offset},`;
  const found = {offset: started.offset, total: started.total ?? archive.length};
  const advice = 'Send the validator as If-Range, or compare it, and report the total of the whole archive.';
  expectAnswer(`the start and total of ${what}`, found, {offset: start, total: archive.length}, advice);
  await expectBytes(what, Readable.from([archive.subarray(start)]), async () => content);
}

/** A slug or an ID that is a condition where it is written into SQL as it is. */
export const sqlText = "x'or'1'='1";

/** An ID that nothing has, of the same form as `id`: a service may refuse any other before it looks. */
export function unknownIdLike(id: BundleId): BundleId {
  if (typeof id === 'number') return 999_999_999;
  if (/^\d{1,9}$/.test(id)) return '999999999';
  // A UUID, a digest or the like.
  const isHex = /^[0-9a-f-]{20,}$/i.test(id);
  if (isHex) return id.replaceAll(/[0-9a-f]/gi, '0').replace(/^(0{8}-0{4}-)0(0{3}-)0/, '$14$28');
  // With fewer digits, another one may have the changed ID.
  const isLong = /(?:\d\D*){6}/.test(id);
  return isLong ? id.replaceAll(/\d/g, (digit) => String(9 - Number(digit))) : 'no-such-bundle';
}

/**
 * Asserts that IDs that nothing has are refused: one like `id`, with the expected error, and those that lead to `id` in
 * a URL or a path that they are not encoded for, or that are the same number, with any.
 */
export async function expectUnknown(
  what: string,
  id: BundleId,
  call: (unknownId: BundleId) => Promise<unknown>,
  expected: ExpectedError,
): Promise<void> {
  const unknownId = unknownIdLike(id);
  await expectError(`${what} ${shown(unknownId)}`, call(unknownId), expected);
  const spellings = [`${id}?`, `${id}#x`, `x/../${id}`, `./${id}`, `${id}/.`, `0${id}`, `${id}.0`];
  const alike = [...spellings, sqlText, '_'.repeat(String(id).length)];
  const advice = 'Encode IDs in URLs and paths, and compare them as text. Pass them to SQL as parameters.';
  for (const other of typeof id === 'number' ? [] : alike) {
    await expectError(`${what} ${shown(other)}`, call(other), anyError, advice);
  }
}
