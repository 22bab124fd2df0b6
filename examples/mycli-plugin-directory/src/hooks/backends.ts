import type {BackendsHook} from 'mycli/backend';
import {directoryBackend} from '../backend.js';

const hook: BackendsHook = async ({host}) => {
  if (host.apiVersion === directoryBackend.apiVersion) return {backends: [directoryBackend]};
  // The host would refuse the backend, too, but cannot know what to do about it.
  throw new Error(`mycli ${host.version} needs a newer version of this plugin. Run: mycli plugins:update`);
};

export default hook;
