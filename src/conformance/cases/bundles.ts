import assert from 'node:assert/strict';
import {Writable} from 'node:stream';
import {finished} from 'node:stream/promises';
import {setTimeout as delay} from 'node:timers/promises';
import type {BackendLimits, BundleFormat, BundleId, DownloadResume, DownloadStart} from '../../backends/contract.js';
import {hugeBytes, hugeLike, largeBytes, stallHalfWay} from '../bundles.js';
import {
  anyError,
  expectAbort,
  expectAnswer,
  expectBytes,
  expectError,
  notTried,
  shown,
  unknownBundle,
} from '../expectations.js';
import {memoryInUse} from '../observations.js';
import {bundleOperations, type Operation} from '../operations.js';
import type {Subject, Case, Cases, CaseTable} from '../subject.js';

export function uploadCases(format: BundleFormat): Cases {
  const what = `upload (${format})`;
  return {
    [`${what}: every byte arrives`]: {
      proves: 'Every byte of a small bundle and of one of 9 MiB arrives, which services may take in parts.',
      async run(subject) {
        for (const contentBytes of [undefined, largeBytes]) {
          const bundle = await subject.makeBundle({format, contentBytes});
          await subject.assertArrived(bundle, await subject.upload(bundle));
        }
      },
    },
    [`${what}: progress rises to 100 %`]: {
      proves: 'Progress never decreases, never exceeds the total, and ends with it.',
      async run(subject) {
        await subject.upload(await subject.makeBundle({format}));
        let before = 0;
        for (const {transferred, total = transferred} of subject.progress) {
          const isFine = transferred >= before && transferred <= total;
          assert.ok(isFine, `Expected ${before} to ${total} bytes of progress. The backend reported ${transferred}.`);
          before = transferred;
        }
        const last = subject.progress.at(-1);
        assert.ok(last, 'No progress was reported. Use context.bodies, or call context.onProgress().');
        expectAnswer('the last report of progress', last.transferred, last.total ?? last.transferred);
      },
    },
    [`${what}: an abort in the middle ends it and leaves nothing behind`]: {
      proves:
        'An upload that is aborted once half of `bundle.createReadStream()` has been read, or at the first progress, ' +
        'ends within a second, and nothing is left once `onAbort` has cleaned up.',
      async run(subject) {
        const bundle = await subject.makeBundle({format});
        await expectAbort('the upload', subject.cleanups, async (signal, abort) => {
          // A backend that reads the archive by its path does not stall, but has started once there is progress.
          subject.onProgress = ({transferred}) => {
            if (transferred > 0) abort();
          };
          await subject.upload(await stallHalfWay(bundle, abort), {signal, stateless: true});
        });
        await subject.assertKept(0, 'an aborted upload that was to be cleaned up in context.onAbort()');
      },
    },
    [`${what}: the bundle is not held in memory`]: {
      proves:
        'Reading a bundle of 300 MB waits for the service, or what was read is not kept. The bundle is a file of zeros ' +
        'that takes no space, and its upload is aborted when the service takes no more, or 32 MiB are sent.',
      run: (subject) => assertNotHeld(subject, format),
    },
  };
}

/** How much of a huge bundle is sent before it is clear that sending keeps up with reading. */
const enoughBytes = 32 * 1024 * 1024;
/** How often memory is measured, in milliseconds. */
const measureMs = 200;
/** A difference of memory that means nothing. */
const steadyBytes = 1024 * 1024;

/** Asserts that memory does not grow with what is read, while all requests of an upload are held. */
async function assertNotHeld(subject: Subject, format: BundleFormat): Promise<void> {
  const bundle = await hugeLike(await subject.makeBundle({format}));
  const enough = new AbortController();
  subject.onProgress = ({transferred}) => {
    if (transferred > enoughBytes) enough.abort();
  };
  const held = new AbortController();
  subject.relay.arm({kind: 'hold', at: 1, count: Infinity, onHeld: () => held.abort()});
  const before = memoryInUse();
  let grown = 0;
  // A service may refuse the bundle, which contains nothing but zeros.
  const over = subject
    .upload(bundle, {signal: enough.signal, stateless: true})
    .catch(() => undefined)
    .finally(() => enough.abort());
  for (let last = Infinity; !enough.signal.aborted; last = grown) {
    await Promise.race([over, delay(measureMs)]);
    grown = memoryInUse() - before;
    if (grown > hugeBytes / 2 || (held.signal.aborted && Math.abs(grown - last) < steadyBytes)) enough.abort();
  }
  const advice = 'Send the bundle while you read it, with context.bodies or a stream.';
  assert.ok(
    grown <= hugeBytes / 2,
    `Expected the memory in use to stay the same while the service takes nothing. It grew by ${grown} bytes. ${advice}`,
  );
}

const triedLimits = {maxBundleBytes: enoughBytes, maxFiles: 1000};

/** Cases for the limits that a backend has. */
export function limitCases(limits: BackendLimits = {}): CaseTable {
  const rows = (['maxBundleBytes', 'maxFiles'] as const).flatMap((limit) => {
    const {[limit]: value} = limits;
    if (value === undefined) return [];
    const most = triedLimits[limit];
    const one: Case = {
      proves: `A bundle that just keeps within \`${limit}\` is accepted, if that is at most ${most.toLocaleString('en')}.`,
      async run(subject) {
        if (value > most) notTried(`${limit} is ${value}, and at most ${most} is tried.`);
        const bundle = await subject.makeBundle({[limit === 'maxFiles' ? 'files' : 'contentBytes']: value});
        await subject.assertArrived(bundle, await subject.upload(bundle));
      },
    };
    return [[`limits: a bundle with the ${limit} of the backend is accepted`, one] as const];
  });
  return {limits: Object.fromEntries(rows)};
}

/** Cases for what can be done with an uploaded bundle. */
export const bundleCases: CaseTable = {
  download: {
    'download: returns the uploaded bytes': {
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
    'download: an abort in the middle ends it within a second': {
      proves: 'A download that is aborted while it writes ends within a second.',
      async run(subject) {
        const bundleId = await subject.upload();
        await expectAbort('the download', subject.cleanups, async (signal, abort) => {
          // Accepts one chunk and never finishes it.
          await subject.call('download', {bundleId, writeTo: new Writable({write: abort})}, {signal});
        });
      },
    },
    'download: it resumes where it stopped, or starts over': {
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
        for (const [given, most] of [
          [validator, half],
          [other, 0],
        ] as const) {
          const {
            content,
            offset,
            total = size,
          } = await fetchArchive(subject, bundleId, {offset: half, validator: given});
          const start = offset === most ? most : 0;
          const what = `the start and length of a download with the validator ${given}, resumed at ${half},`;
          const advice = `The validator of the archive is ${validator}. Send the given one as If-Range, or compare it.`;
          const expected = {offset: start, total: size, length: size - start};
          expectAnswer(what, {offset, total, length: content.length}, expected, advice);
        }
      },
    },
  },
  deleteBundle: {
    'delete: removes the bundle and no other': {
      proves: 'The bundle is gone, and bundles with the same content or the same message stay.',
      async run(subject) {
        const unwanted = await subject.makeBundle();
        const namesake = await subject.makeBundle({message: unwanted.message});
        const [copyId, namesakeId] = [await subject.upload(unwanted), await subject.upload(namesake)];
        const bundleId = await subject.upload(unwanted);
        await subject.call('deleteBundle', {bundleId});
        await subject.nextInstant();
        const listed = subject.backend.listBundles ? await subject.list('listBundles', {}) : [];
        const isListed = listed.some((item) => item.bundleId === bundleId);
        assert.ok(!isListed, `Expected the bundle ${shown(bundleId)} to be gone. It is still listed.`);
        await assert.rejects(
          subject.assertArrived(unwanted, bundleId),
          assert.AssertionError,
          `Expected the bundle ${shown(bundleId)} to be gone. The service still has it.`,
        );
        // A service may store equal archives once.
        if (copyId !== bundleId) await subject.assertArrived(unwanted, copyId);
        await subject.assertArrived(namesake, namesakeId);
      },
    },
  },
};

/** An archive, and what the backend said when the download of it started. */
interface FetchedArchive extends DownloadStart {
  readonly content: Buffer;
}

/** Downloads an archive, as slowly as it goes to a disk. */
async function fetchArchive(subject: Subject, bundleId: BundleId, resume?: DownloadResume): Promise<FetchedArchive> {
  const pieces: Buffer[] = [];
  const starts: DownloadStart[] = [];
  const writeTo = new Writable({
    write(piece: Buffer, _, done) {
      pieces.push(piece);
      setImmediate(done);
    },
  });
  await subject.call('download', {bundleId, writeTo, resume, onStart: (start) => void starts.push(start)});
  // Like the host, which ends what a backend has left open.
  if (!writeTo.writableEnded) writeTo.end();
  await finished(writeTo);
  return {offset: 0, ...starts.at(-1), content: Buffer.concat(pieces)};
}

/** An ID that nothing has, of the same form as `id`: a service may refuse any other before it looks. */
export function unknownIdLike(id: BundleId): BundleId {
  if (typeof id === 'number') return 999_999_999;
  if (/^\d{1,9}$/.test(id)) return '999999999';
  // A UUID, a digest or the like.
  const isHex = /^[0-9a-f-]{20,}$/i.test(id);
  return isHex ? id.replaceAll(/[0-9a-f]/gi, '0').replace(/^(0{8}-0{4}-)0(0{3}-)0/, '$14$28') : 'no-such-bundle';
}

/** Cases for members that take the ID of a bundle. */
export const idCases: CaseTable = Object.fromEntries(bundleOperations.map((one) => [one.needs, casesOfIds(one)]));

function casesOfIds({name, run}: Operation): Cases {
  /** Uploads a bundle, and asserts that another ID in place of its own is refused. */
  const assertRefused = async (subject: Subject, bundleId: BundleId, expected = anyError) => {
    const prepared = {bundleId, bundle: await subject.makeBundle()};
    await expectError(`${name} of the unknown bundle ${shown(bundleId)}`, run(subject, prepared), expected);
  };
  return {
    [`${name}: an unknown bundle is refused with a code`]: {
      proves: 'An ID that no bundle has is refused, with `ERR_BUNDLE_UNKNOWN` or the status 404.',
      run: async (subject) => assertRefused(subject, unknownIdLike(await subject.upload()), unknownBundle),
    },
    [`${name}: what only looks like the ID of a bundle is refused`]: {
      proves: 'The ID of a bundle with `?`, `#` or `..` around it is none: encode it in a URL or a path.',
      async run(subject) {
        if (subject.backend.bundleIds === 'number') notTried('The IDs of the backend are numbers.');
        const bundle = await subject.makeBundle();
        const bundleId = await subject.upload(bundle);
        const id = String(bundleId);
        for (const like of [`${id}?`, `${id}#x`, `x/../${id}`, `./${id}`, `${id}/.`])
          await assertRefused(subject, like);
        await subject.assertArrived(bundle, bundleId);
      },
    },
    [`${name}: a bundle of another project is refused`]: {
      proves: 'The bundles of another project are not found, and stay as they are.',
      async run(subject) {
        const other = subject.elsewhere();
        // A service may number the bundles of each project: this one has more.
        await subject.upload();
        const bundle = await subject.makeBundle();
        const bundleId = await subject.upload(bundle);
        await other.upload();
        await assertRefused(other, bundleId);
        await subject.assertArrived(bundle, bundleId);
      },
    },
  };
}
