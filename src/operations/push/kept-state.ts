import type {UploadState} from '../../backends/contract.js';
import {isBuiltIn} from '../../backends/names.js';
import {uploadStateOf} from '../../backends/upload-state.js';
import {reasonOf} from '../../errors/system-failure.js';
import {asSentence} from '../../text/sentence.js';
import type {OpenBackend} from '../open-backend.js';
import type {PushOptions} from './plan-push.js';
import type {SentContent} from './push-content.js';
import type {UploadStates} from './records.js';

/** The places whose state an upload of this process uses. */
const placesInUse = new WeakMap<UploadStates, Set<string>>();

/**
 * Calls `upload` with the state of an earlier push of the same archive to the same place, unless another upload has it.
 * The built-in backends resume nothing, and an archive that is packed while it is sent has no digest to know it by.
 */
export async function withKeptState<Result>(
  open: OpenBackend,
  content: SentContent,
  {uploadStates}: Pick<PushOptions, 'uploadStates'>,
  upload: (state: UploadState | undefined) => Promise<Result>,
): Promise<Result> {
  const {backend, secrets} = open;
  if (uploadStates === undefined || content.kind === 'stream' || isBuiltIn(backend.name)) return upload(undefined);
  const place = {...open.place(), sha256: content.bundle.sha256};
  const inUse = placesInUse.get(uploadStates) ?? new Set();
  const key = JSON.stringify(place);
  if (inUse.has(key)) return upload(undefined);
  placesInUse.set(uploadStates, inUse.add(key));
  const kept: UploadState = {
    read: () => uploadStates.read(place),
    write: (saved) => uploadStates.write(place, saved),
    remove: () => uploadStates.remove(place),
  };
  const {logger} = await open.context();
  const state = uploadStateOf(backend, kept, {secrets, logger});
  try {
    const result = await upload(state);
    await state.remove();
    return result;
  } finally {
    await uploadStates.putBack?.(place).catch((error: unknown) => {
      logger.warn(asSentence(`The state of the upload cannot be put back: ${reasonOf(error)}`));
    });
    inUse.delete(key);
  }
}
