/** Makes the browser one without OPFS: for what is imported after it. */
Reflect.deleteProperty(globalThis, "FileSystemSyncAccessHandle");
