internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Loads one image with a session of its own, without cookies, credentials or a cache. The rules are those of
/// ``ImageDownload``.
///
/// Unchecked, because all its state is used on the session's delegate queue alone, which is serial, and before the task is
/// resumed.
final class ImageTransfer: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  private var download = ImageDownload()
  private var failure: (any Error)?
  private var continuation: CheckedContinuation<ImageDownload.Image, any Error>?

  /// Loads an image. Cancelling the calling task ends the transfer.
  static func load(
    _ url: URL, configuration: URLSessionConfiguration = .ephemeral
  ) async throws -> ImageDownload.Image {
    configuration.httpShouldSetCookies = false
    configuration.urlCredentialStorage = nil
    configuration.urlCache = nil
    let transfer = ImageTransfer()
    let session = URLSession(configuration: configuration, delegate: transfer, delegateQueue: nil)
    // A session keeps its delegate until then.
    defer { session.finishTasksAndInvalidate() }
    let task = session.dataTask(with: URLRequest(url: url))
    return try await withTaskCancellationHandler {
      try Task.checkCancellation()
      return try await withCheckedThrowingContinuation { continuation in
        transfer.continuation = continuation
        task.resume()
      }
    } onCancel: {
      task.cancel()
    }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    // Without a request the redirect itself is the answer, whose status is refused.
    completionHandler(perform { try download.redirect(to: request.url) } ? request : nil)
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    let isTaken = perform { try download.head(status: status, length: response.expectedContentLength) }
    completionHandler(isTaken ? .allow : .cancel)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    if !perform({ try download.append(data) }) { dataTask.cancel() }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    let error = failure ?? error
    continuation?.resume(with: Result { if let error { throw error } else { try download.end() } })
    continuation = nil
  }

  /// Keeps the first failure.
  private func perform(_ step: () throws -> Void) -> Bool {
    do { try step() } catch { failure = failure ?? error }
    return failure == nil
  }
}
