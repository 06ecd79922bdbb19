/** Makes the browser one without IndexedDB: for what is imported after it. */
Object.defineProperty(globalThis, "indexedDB", { value: undefined });
