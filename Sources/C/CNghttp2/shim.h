// nghttp2 1.52 or later. Its interface is plain functions. The inlines here are for what is clumsy in Swift.
#pragma once

#include <nghttp2/nghttp2.h>

/// The data source is a union, which has no memberwise initializer in Swift.
static inline nghttp2_data_provider cnghttp2_data_provider(void *source, nghttp2_data_source_read_callback read) {
  nghttp2_data_provider provider;
  provider.source.ptr = source;
  provider.read_callback = read;
  return provider;
}

/// A frame is a union; reading a member in Swift may copy all of it, once per header field.
static inline uint8_t cnghttp2_type(const nghttp2_frame *frame) { return frame->hd.type; }
static inline uint8_t cnghttp2_flags(const nghttp2_frame *frame) { return frame->hd.flags; }
static inline int32_t cnghttp2_stream(const nghttp2_frame *frame) { return frame->hd.stream_id; }
static inline int cnghttp2_opens_request(const nghttp2_frame *frame) {
  return frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
}
static inline const nghttp2_goaway *cnghttp2_goaway(const nghttp2_frame *frame) { return &frame->goaway; }
static inline const nghttp2_settings *cnghttp2_settings(const nghttp2_frame *frame) { return &frame->settings; }
