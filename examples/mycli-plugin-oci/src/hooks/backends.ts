import type {BackendsHook} from 'mycli/backend';
import {ociBackend} from '../backend.js';

const hook: BackendsHook = async () => ({backends: [ociBackend]});

export default hook;
