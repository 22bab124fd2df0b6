// @ts-check
import {backend} from './backend.js';

/**
 * mycli calls it to get the backends of this package. package.json says where it is.
 * @type {import('mycli/backend').BackendsHook}
 */
const hook = async () => ({backends: [backend]});

export default hook;
