public import Foundation

/// Loads the image of a push in the app's notification service extension. If anything fails, the push shows its text alone.
///
///     final class NotificationService: UNNotificationServiceExtension {
///       override func didReceive(
///         _ request: UNNotificationRequest, withContentHandler handler: @escaping (UNNotificationContent) -> Void
///       ) {
///         Task { handler(await NotificationServiceContent().content(of: request)) }
///       }
///     }
public struct NotificationServiceContent: Sendable {
  /// The longest time for an image. The system ends an extension after about 30 seconds.
  static let lifetime = Duration.seconds(20)

  private let folder: URL
  private let load: @Sendable (URL) async throws -> ImageDownload.Image
  private let sleep: @Sendable (Duration) async throws -> Void

  /// - Parameter folder: for the image. The system moves it from there.
  public init(folder: URL = FileManager.default.temporaryDirectory) {
    self.init(folder: folder, load: { try await ImageTransfer.load($0) }) { try await Task.sleep(for: $0) }
  }

  init(
    folder: URL, load: @escaping @Sendable (URL) async throws -> ImageDownload.Image,
    sleep: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.folder = folder
    self.load = load
    self.sleep = sleep
  }

  /// Loads the image of a push: PNG, JPEG or GIF, at most 10 MB, by `https` alone, within 20 seconds.
  /// - Returns: a new file; nil when the push has no image or it could not be loaded.
  public func image(of content: PushContent) async -> URL? {
    guard let address = content.imageURL, let image = await loadInTime(address) else { return nil }
    let file = folder.appendingPathComponent("\(UUID().uuidString).\(image.fileExtension)")
    do { try image.content.write(to: file) } catch { return nil }
    return file
  }

  /// Whichever ends first counts: the transfer or the time.
  private func loadInTime(_ address: URL) async -> ImageDownload.Image? {
    await withTaskGroup(of: ImageDownload.Image?.self) { [load, sleep] group in
      group.addTask { try? await load(address) }
      group.addTask {
        try? await sleep(Self.lifetime)
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
  }
}
