internal import COpenSSL

/// PEM text to and from OpenSSL's memory buffers.
package enum MemoryBIO {
  /// The text that a PEM writer produces.
  ///
  /// Traps when the writer fails, which it does only without memory.
  /// - Parameter write: calls one `PEM_write_bio_…` function and returns its result, 1 for success.
  package static func text(_ write: (OpaquePointer?) -> Int32) -> String {
    let memory = BIO_new(BIO_s_mem())
    defer { BIO_free_all(memory) }
    OpenSSL.require(write(memory), "PEM_write_bio")
    var start: UnsafeMutablePointer<CChar>?
    let length = copenssl_memory_contents(memory, &start)
    return String(decoding: UnsafeRawBufferPointer(start: start, count: Int(length)), as: UTF8.self)
  }

  /// A buffer to read a copy of the text from. The caller frees it with `BIO_free_all`, which also erases the copy.
  package static func reading(_ text: String) -> OpaquePointer? {
    let memory = BIO_new(BIO_s_mem())
    var text = text
    text.withUTF8 { _ = BIO_write(memory, $0.baseAddress, Int32($0.count)) }
    return memory
  }
}
