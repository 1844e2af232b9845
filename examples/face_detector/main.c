/*===- main.c - finds the face in a picture with a compiled model ----------------------===*/
/* Links face_detector.so, libc, libm and libpthread; nothing of Tokamak. See run.sh. */
#include "face_detector.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 128, COARSE = 384, FINE = 512, VALUES = 16 };

/* Reads a binary PPM of 128x128 pixels into RGB values in [-1, 1]; 0 if it is none. */
static int read_picture(const char *path, float *pixels) {
  static unsigned char bytes[SIDE * SIDE * 3];
  FILE *file = fopen(path, "rb");
  if (!file)
    return 0;
  int width = 0, height = 0, most = 0;
  int good = fscanf(file, "P6 %d %d %d", &width, &height, &most) == 3 && width == SIDE && height == SIDE &&
             most == 255 && fgetc(file) != EOF && fread(bytes, 1, sizeof bytes, file) == sizeof bytes;
  fclose(file);
  for (int i = 0; good && i < SIDE * SIDE * 3; ++i)
    pixels[i] = (float)bytes[i] / 127.5f - 1;
  return good;
}

/* A face as a child draws it: a light ellipse, two eyes, a mouth. */
static void draw_picture(float *pixels) {
  for (int y = 0; y < SIDE; ++y)
    for (int x = 0; x < SIDE; ++x) {
      float u = ((float)x - 64) / 30, v = ((float)y - 64) / 38;
      int face = u * u + v * v < 1;
      int eye = hypotf(fabsf(u) - 0.4f, (v + 0.25f) * 1.5f) < 0.17f;
      int mouth = fabsf(u) < 0.4f && fabsf(v - 0.5f) < 0.06f;
      float light = !face ? -0.6f : eye || mouth ? -0.8f : 0.6f - 0.3f * u * u;
      for (int c = 0; c < 3; ++c)
        pixels[(y * SIDE + x) * 3 + c] = light + (face && c == 0 ? 0.2f : 0);
    }
}

/* The best of `count` anchors on a grid of `cells` x `cells`; its box is offset from the cell's centre. */
static void take_best(const float *scores, const float *boxes, int count, int cells, float *best,
                      float box[4]) {
  for (int i = 0; i < count; ++i) {
    if (scores[i] <= *best)
      continue;
    int cell = i / (count / (cells * cells));
    *best = scores[i];
    box[0] = ((float)(cell % cells) + 0.5f) * SIDE / (float)cells + boxes[i * VALUES];
    box[1] = ((float)(cell / cells) + 0.5f) * SIDE / (float)cells + boxes[i * VALUES + 1];
    box[2] = boxes[i * VALUES + 2];
    box[3] = boxes[i * VALUES + 3];
  }
}

int main(int argc, char **argv) {
  static float pixels[SIDE * SIDE * 3], fine_scores[FINE], coarse_scores[COARSE];
  static float fine_boxes[FINE * VALUES], coarse_boxes[COARSE * VALUES];
  if (argc > 1 && !read_picture(argv[1], pixels)) {
    fprintf(stderr, "%s: not a 128x128 binary PPM picture\n", argv[1]);
    return 1;
  }
  if (argc == 1)
    draw_picture(pixels);

  face_detector_model *model = face_detector_init(1);
  if (!model) {
    fprintf(stderr, "out of memory\n");
    return 1;
  }
  int code = face_detector_run(model, pixels, fine_scores, coarse_scores, fine_boxes, coarse_boxes);
  face_detector_free(model);
  if (code) {
    fprintf(stderr, "%s\n", face_detector_error(code));
    return 1;
  }

  float best = -INFINITY, box[4] = {0};
  take_best(fine_scores, fine_boxes, FINE, 16, &best, box);
  take_best(coarse_scores, coarse_boxes, COARSE, 8, &best, box);
  printf("best score %.3f: a face of %.0f x %.0f pixels around (%.0f, %.0f)\n", 1 / (1 + exp(-best)), box[2],
         box[3], box[0], box[1]);
  return 0;
}
