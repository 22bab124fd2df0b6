import {portalBackend} from './backend.js';

/** @type {import('mycli/backend').BackendsHook} */
const hook = async () => ({backends: [portalBackend]});

export default hook;
