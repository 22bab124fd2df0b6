import assert from 'node:assert/strict';
import type {BundleFormat} from '../../backends/contract.js';
import {largeBytes, stallHalfWay} from '../bundles.js';
import {anyError, expectAbort, expectAnswer, expectError, notTried, shown} from '../expectations.js';
import {fromJson, type Case} from '../subject.js';
import {countRequests} from './faults.js';

export function uploadCases(format: BundleFormat): readonly Case[] {
  const what = `upload (${format})`;
  return [
    {
      name: `${what}: every byte arrives, and progress rises to 100 %`,
      proves:
        'Every byte of a small bundle and of one of 9 MiB arrives, which services may take in parts. Progress never ' +
        'decreases, never exceeds the total, and ends with it.',
      async run(subject) {
        for (const contentBytes of [undefined, largeBytes]) {
          const bundle = await subject.makeBundle({format, contentBytes});
          await subject.assertArrived(bundle, await subject.upload(bundle));
          let before = 0;
          for (const {transferred, total = transferred} of subject.progress) {
            const isFine = transferred >= before && transferred <= total;
            assert.ok(isFine, `Expected ${before} to ${total} bytes of progress. The backend reported ${transferred}.`);
            before = transferred;
          }
          const last = subject.progress.at(-1);
          assert.ok(last, 'No progress was reported. Use context.bodies, or call context.onProgress().');
          expectAnswer('the last report of progress', last.transferred, last.total ?? last.transferred);
          subject.progress.length = 0;
        }
      },
    },
    {
      name: `${what}: an abort in the middle ends it and leaves nothing behind`,
      proves:
        'An upload that is aborted once half of `bundle.createReadStream()` has been read, or at the first progress, ' +
        'ends within a second, and nothing is left once `onAbort` has cleaned up.',
      async run(subject) {
        const bundle = await subject.makeBundle({format});
        await expectAbort('the upload', subject.cleanups, (signal, abort) => {
          // A backend that reads the archive by its path does not stall, but has started once there is progress.
          subject.onProgress = ({transferred}) => {
            if (transferred > 0) abort();
          };
          return subject.call('upload', stallHalfWay(bundle, abort), {signal});
        });
        await subject.assertKept(0, 'an aborted upload that was to be cleaned up in context.onAbort()');
      },
    },
    {
      name: `${what}: deploys nothing unless it says so`,
      proves: 'An upload without a target deploys nothing, and one to a target only if the backend says so.',
      async run(subject) {
        const {deploysOnUpload = [], listDeployments} = subject.backend;
        const {targetSlug, otherTarget} = subject;
        for (const target of [undefined, targetSlug]) {
          const {deployment} = await subject.uploadResult(await subject.makeBundle({format}), target);
          await subject.nextInstant();
          const says = target !== undefined && deploysOnUpload.includes(format);
          expectAnswer(`whether an upload to the target ${shown(target)} deploys`, deployment !== undefined, says);
          for (const slug of says || !listDeployments ? [] : [targetSlug, otherTarget]) {
            expectAnswer(`the history of "${slug}" after an upload`, await subject.historyIfAny(slug), []);
          }
        }
      },
    },
    {
      name: `wait (${format}): a push to a target finishes`,
      needs: ['getDeployment'],
      proves: 'A push to a target reaches `finished`, polled by another process that has only the JSON reference.',
      async run(subject) {
        const {deployment} = await subject.push({format});
        await subject.again().finished({deployment: fromJson(deployment)});
      },
    },
  ];
}

/** The case of backends that resume uploads. `contentBytes`: the size of a bundle that they send in several parts. */
export function resumeCase(contentBytes: number): Case {
  return {
    name: 'resume: only what the service lacks is sent again',
    proves:
      'After an upload that broke off in the middle, the next one sends less than the whole, and all arrives. Another ' +
      'service, which does not know that upload, gets everything.',
    async run(subject, open) {
      const trial = await open();
      const total = await countRequests(trial, async () => trial.upload(await trial.makeBundle({contentBytes})));
      if (total < 3) notTried('Less than three requests of an upload pass the suite.');
      const bundle = await subject.makeBundle({contentBytes});
      subject.relay.arm({kind: 'cut', at: Math.ceil((total + 1) / 2), lasts: true});
      await expectError('an interrupted upload', subject.upload(bundle), anyError);
      const states = new Map(subject.parts.states);
      assert.ok(states.size > 0, 'An upload was interrupted, and nothing is saved with "context.state".');

      subject.relay.arm();
      const next = subject.again();
      await next.assertArrived(bundle, await next.upload(bundle));
      const {bytes} = subject.relay;
      assert.ok(bytes < bundle.size, `The second upload sent ${bytes} bytes, of ${bundle.size}.`);
      await next.assertKept(1, 'a resumed upload');

      const other = (await open()).again({states});
      await other.assertArrived(bundle, await other.upload(bundle));
      await other.assertKept(1, 'an upload that started over');
    },
  };
}
