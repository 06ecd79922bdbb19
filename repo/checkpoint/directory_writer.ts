/**
 * The directory of a checkpoint as bytes, which `layout.ts` reads. Loaded when
 * one is written.
 *
 * @module
 */

import { ByteWriter } from "../../src/base/bytes.ts";
import { encodeShape } from "../../src/schema/shape_codec.ts";
import {
  type CollectionPlace,
  columnTypes,
  type Directory,
  type Records,
} from "./layout.ts";

/** Writes the directory. */
export function encodeDirectory(directory: Directory): Uint8Array {
  const writer = new ByteWriter(4096);
  writer.u48(directory.covers);
  writer.varint(directory.chains.length);
  for (const chain of directory.chains) writer.text(chain);
  writer.varint(directory.shapes.length);
  for (const shape of directory.shapes) writer.bytes(encodeShape(shape));
  writeRecords(writer, directory.origins);
  writer.varint(directory.originsKept);
  writeRecords(writer, directory.checks);
  writer.varint(directory.collections.length);
  for (const place of directory.collections) writeCollection(writer, place);
  writer.varint(directory.meta.length);
  writer.bytes(directory.meta);
  return writer.copy();
}

function writeRecords(writer: ByteWriter, records: Records): void {
  writer.varint(records.first);
  writer.varint(records.count);
}

function writeCollection(writer: ByteWriter, place: CollectionPlace): void {
  writer.text(place.name);
  writer.varint(place.size);
  writer.varint(place.count);
  const parts = [
    place.slots,
    place.rows,
    place.ids,
    place.idStarts,
    place.dead,
  ];
  for (const records of parts) writeRecords(writer, records);
  writer.varint(place.heap.first);
  writer.varint(place.heap.bytes);
  writer.varint(place.columns.length);
  for (const column of place.columns) {
    writer.text(column.field);
    writer.text(column.key);
    writer.u8(columnTypes.indexOf(column.type));
    writer.u8(column.encoding);
    writeRecords(writer, column.records);
    writer.varint(column.words.first);
    writer.varint(column.words.bytes);
    writer.varint(column.wordCount);
  }
}
