import assert from 'node:assert/strict';
import {Writable} from 'node:stream';
import {finished} from 'node:stream/promises';
import type {BundleId, DownloadResume, DownloadStart} from '../../backends/contract.js';
import {anyError, expectAbort, expectAnswer, expectBytes, expectError} from '../expectations.js';
import {shown, unknownBundle} from '../expectations.js';
import {bundleOperations, type Operation} from '../operations.js';
import type {Case, Subject} from '../subject.js';

export const bundleCases: readonly Case[] = [
  {
    name: 'download: returns the uploaded bytes',
    needs: ['download'],
    proves: 'The bytes are those of the upload, and so are the digest and the total if they are reported.',
    async run(subject) {
      const bundle = await subject.makeBundle();
      const {size, sha256} = bundle;
      const fetched = await fetchArchive(subject, await subject.upload(bundle));
      const start = {offset: fetched.offset, total: fetched.total ?? size, sha256: fetched.sha256 ?? sha256};
      expectAnswer('the start of the download', start, {offset: 0, total: size, sha256});
      await expectBytes('the download', bundle, async () => fetched.content);
    },
  },
  {
    name: 'download: an abort in the middle ends it within a second',
    needs: ['download'],
    proves: 'A download that is aborted while it writes ends within a second.',
    async run(subject) {
      const bundleId = await subject.upload();
      await expectAbort('the download', subject.cleanups, (signal, abort) => {
        // Accepts one chunk and never finishes it.
        return subject.call('download', {bundleId, writeTo: new Writable({write: abort})}, {signal});
      });
    },
  },
  {
    name: 'download: it resumes where it stopped, or starts over',
    needs: ['download'],
    proves:
      'With a validator, a download continues the same archive where it says, or starts over and says so. Two archives ' +
      'have different validators, and the validator of another one makes a download start over.',
    async run(subject) {
      const bundle = await subject.makeBundle();
      const {size} = bundle;
      const [bundleId, otherId] = [await subject.upload(bundle), await subject.upload()];
      const {validator} = await fetchArchive(subject, bundleId);
      const {validator: other} = await fetchArchive(subject, otherId);
      // Without a validator, the host never resumes.
      if (validator === undefined || other === undefined) return;
      assert.notEqual(validator, other, `Expected two archives to have different validators, not ${shown(other)}.`);
      const half = Math.floor(size / 2);
      for (const given of [validator, other]) {
        const resume = {offset: half, validator: given};
        const {content, offset, total = size} = await fetchArchive(subject, bundleId, resume);
        const start = offset === half && given === validator ? half : 0;
        const what = `the start and length of a download with the validator ${given}, resumed at ${half},`;
        const advice = `The validator of the archive is ${validator}. Send the given one as If-Range, or compare it.`;
        const expected = {offset: start, total: size, length: size - start};
        expectAnswer(what, {offset, total, length: content.length}, expected, advice);
      }
    },
  },
  {
    name: 'delete: removes the bundle and no other',
    needs: ['deleteBundle'],
    proves: 'The bundle is gone, and bundles with the same content or the same message stay.',
    async run(subject) {
      const unwanted = await subject.makeBundle();
      const namesake = await subject.makeBundle({message: unwanted.message});
      const [copyId, namesakeId] = [await subject.upload(unwanted), await subject.upload(namesake)];
      const bundleId = await subject.upload(unwanted);
      await subject.call('deleteBundle', {bundleId});
      await subject.nextInstant();
      const listed = subject.backend.listBundles ? await subject.list('listBundles', {}) : [];
      const gone = `Expected the bundle ${shown(bundleId)} to be gone.`;
      assert.ok(!listed.some((item) => item.bundleId === bundleId), `${gone} It is still listed.`);
      const reading = subject.assertArrived(unwanted, bundleId);
      await assert.rejects(reading, assert.AssertionError, `${gone} The service still has it.`);
      // A service may store equal archives once.
      if (copyId !== bundleId) await subject.assertArrived(unwanted, copyId);
      await subject.assertArrived(namesake, namesakeId);
    },
  },
  ...bundleOperations.map(idCase),
];

/** Downloads an archive, as slowly as it goes to a disk, with what the backend says when it starts. */
async function fetchArchive(
  subject: Subject,
  bundleId: BundleId,
  resume?: DownloadResume,
): Promise<DownloadStart & {readonly content: Buffer}> {
  const pieces: Buffer[] = [];
  let started: DownloadStart = {offset: 0};
  const writeTo = new Writable({
    write(piece: Buffer, _, done) {
      pieces.push(piece);
      setImmediate(done);
    },
  });
  await subject.call('download', {bundleId, writeTo, resume, onStart: (start) => void (started = start)});
  // Like the host, which ends what a backend has left open.
  if (!writeTo.writableEnded) writeTo.end();
  await finished(writeTo);
  return {...started, content: Buffer.concat(pieces)};
}

/** An ID that nothing has, of the same form as `id`: a service may refuse any other before it looks. */
export function unknownIdLike(id: BundleId): BundleId {
  if (typeof id === 'number') return 999_999_999;
  if (/^\d{1,9}$/.test(id)) return '999999999';
  // A UUID, a digest or the like.
  const isHex = /^[0-9a-f-]{20,}$/i.test(id);
  return isHex ? id.replaceAll(/[0-9a-f]/gi, '0').replace(/^(0{8}-0{4}-)0(0{3}-)0/, '$14$28') : 'no-such-bundle';
}

/** The case of an operation that takes the ID of a bundle. */
function idCase({name, needs, run}: Operation): Case {
  return {
    name: `${name}: an unknown bundle is refused with a code`,
    needs: [needs],
    proves:
      'An ID that no bundle has is refused, with `ERR_BUNDLE_UNKNOWN` or the status 404, and so is the ID of a bundle ' +
      'with `?`, `#` or `..` around it: encode it in a URL or a path.',
    async run(subject) {
      const bundle = await subject.makeBundle();
      const id = await subject.upload(bundle);
      const isText = subject.backend.bundleIds !== 'number';
      const alike = isText ? [`${id}?`, `${id}#x`, `x/../${id}`, `./${id}`, `${id}/.`] : [];
      for (const bundleId of [unknownIdLike(id), ...alike]) {
        const expected = alike.includes(String(bundleId)) ? anyError : unknownBundle;
        await expectError(
          `${name} of the unknown bundle ${shown(bundleId)}`,
          run(subject, {bundleId, bundle}),
          expected,
        );
      }
      await subject.assertArrived(bundle, id);
    },
  };
}
