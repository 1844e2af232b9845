//===- Refused.cpp - known operators that are not compiled, a reason each ------------------===//
#include "import/NodeContext.h"

namespace tokamak::import {

void registerRefused(Registry &registry) {
  for (const char *op :
       {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"})
    registry.refuse(
        op, "it draws random numbers, so the model does not define its result; give them as an input");
  for (const char *op : {"RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit"})
    registry.refuse(op, "string tensors are not supported; do this step before the model");
  registry.refuse("ImageDecoder", "encoded images are not supported; decode them before the model");
  for (const char *op : {"Adagrad", "Adam", "Gradient", "Momentum"})
    registry.refuse(op, "training operators of ONNX are not supported; export the model for inference",
                    "ai.onnx.preview.training");
  for (const char *op :
       {"ArrayFeatureExtractor", "Binarizer", "CastMap", "CategoryMapper", "DictVectorizer",
        "FeatureVectorizer", "Imputer", "LabelEncoder", "LinearClassifier", "LinearRegressor", "Normalizer",
        "OneHotEncoder", "SVMClassifier", "SVMRegressor", "Scaler", "TreeEnsemble", "TreeEnsembleClassifier",
        "TreeEnsembleRegressor", "ZipMap"})
    registry.refuse(op, "the classical machine learning operators of ai.onnx.ml are not supported",
                    "ai.onnx.ml");
}

} // namespace tokamak::import
