import type {BackendsHook} from 'mycli/backend';
import {backend} from './backend.js';

/** mycli calls it to get the backends of this package. package.json says where it is. */
const hook: BackendsHook = async () => ({backends: [backend]});

export default hook;
