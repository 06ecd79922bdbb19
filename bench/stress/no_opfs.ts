/** Makes the browser one without OPFS, for what is imported after it. @module */
Reflect.deleteProperty(globalThis, "FileSystemSyncAccessHandle");
